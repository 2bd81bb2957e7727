"""What must hold inside a case, and of a case that is timed: sizes, arguments, drawn values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product

from grader.assignment.arguments import (
    MAX_BYTES,
    RandomTensor,
    SizedPart,
    Symbolic,
    bytes_of,
    names_of,
    symbolic_parts,
)
from grader.assignment.dims import bounds
from grader.assignment.document import DocumentPath, ProblemAt
from grader.assignment.types import Case, Question, TimingSettings
from grader.checks import KINDS
from grader.checks.base import Check, SpeedTest
from grader.checks.speed import speed_tests
from grader.errors import nearest

_MAX_CORNERS = 1024


def case_findings(case: Case, path: DocumentPath) -> Iterator[ProblemAt]:
    """Yield sizes of a case that have no name under dims, or come out negative or too large."""
    if case.generate is not None and "seed" in case.dims:
        yield (*path, "dims", "seed"), "a generate function gets “seed” already; rename the dim"
    parts = [
        part
        for group in ("args", "kwargs")
        for name, argument in getattr(case, group).items()
        for part in symbolic_parts(argument, (*path, group, name))
    ]
    nameless = list(_nameless(parts, case))
    yield from nameless or islice(_bad_sizes(parts, case, path), 1)


def _nameless(parts: Iterable[Symbolic], case: Case) -> Iterator[ProblemAt]:
    known = f"; known are {', '.join(case.dims)}" if case.dims else ""
    for path, part in parts:
        for label in sorted(names_of(part) - set(case.dims)):
            yield path, f"“{label}” has no size under dims{nearest(label, case.dims) or known}"


def _bad_sizes(parts: list[Symbolic], case: Case, path: DocumentPath) -> Iterator[ProblemAt]:
    """Try the least and greatest value of every dim; sizes between them rarely leave that range."""
    names = sorted(case.dims)
    corners = product(*(sorted(set(bounds(case.dims[name]))) for name in names))
    for corner in islice(corners, _MAX_CORNERS):
        dims = dict(zip(names, corner, strict=True))
        sizes = [_bytes(part, dims) for _, part in parts]
        for size, (inner, _) in zip(sizes, parts, strict=True):
            if isinstance(size, str):
                yield inner, size
        total = sum(size for size in sizes if isinstance(size, int))
        if total > MAX_BYTES:
            yield path, f"the inputs take up to {total} bytes; the most is {MAX_BYTES}"


def _bytes(part: SizedPart, dims: Mapping[str, int]) -> int | str:
    """Return the bytes of one part, or what is wrong with its sizes."""
    try:
        return bytes_of(part, dims)
    except ValueError as error:
        return str(error)


_FORMS = ("randn", "rand", "integers")


def timed_findings(question: Question, path: DocumentPath) -> Iterator[ProblemAt]:
    """Yield what keeps a question from being timed as it says."""
    yield from _asked(question, path)
    if question.timed is None:
        return
    name = question.timed.case
    cases = {case.id: case for case in question.cases}
    if name not in cases:
        hint = nearest(name, cases) or f"; known are {', '.join(cases)}"
        yield (*path, "timed", "case"), f"no case is called “{name}”{hint}"
        return
    for text in _unfit(cases[name]):
        yield (*path, "timed", "case"), f"the case “{name}” cannot be timed: {text}"
    yield from _sizes(cases[name], question.timed, (*path, "timed", "dims"))
    yield from _values(question, path)


def _asked(question: Question, path: DocumentPath) -> Iterator[ProblemAt]:
    timed = question.timed
    for index, check in enumerate(question.checks):
        test, here = check.speed(), (*path, "checks", index)
        if test is None or test.on_device:
            continue
        if timed is None:
            yield here, f"kind {check.kind} needs the question's “timed”: {{case: …, loop: …}}"
        elif check.cases != (timed.case,):
            yield (*here, "cases"), f"kind {check.kind} judges what is timed: [{timed.case}]"


def _sizes(case: Case, timed: TimingSettings, path: DocumentPath) -> Iterator[ProblemAt]:
    for name in timed.dims:
        if name not in case.dims:
            hint = nearest(name, case.dims) or f"; it has {', '.join(case.dims) or 'none'}"
            yield (*path, name), f"the case has no size “{name}”{hint}"


def _values(question: Question, path: DocumentPath) -> Iterator[ProblemAt]:
    timed = question.timed
    assert timed is not None, "only asked for questions that are timed"
    if timed.values is None:
        return
    known = {check.id: check for check in question.checks}
    check, here = known.get(timed.values), (*path, "timed", "values")
    if check is None:
        hint = nearest(timed.values, known) or f"; known are {', '.join(known)}"
        yield here, f"no check is called “{timed.values}”{hint}"
    elif not check.results_alone:
        fit = ", ".join(kind for kind, cls in KINDS.items() if cls.results_alone)
        yield here, f"found a check of kind {check.kind}; expected one of {fit}"
    elif timed.rtol or timed.atol:
        yield here, "found both “values” and a tolerance; keep the one that is meant"


def _unfit(case: Case) -> Iterator[str]:
    """Yield why the inputs of a case cannot be drawn for many calls at once."""
    if case.scenario is not None:
        yield "it has a scenario"
        return
    if case.generate is not None:
        return
    arguments = {**case.args, **case.kwargs}
    plain = (type(None), bool, int, float, str)
    for name, item in arguments.items():
        if isinstance(item, RandomTensor):
            if item.form not in _FORMS:
                yield f"“{name}” is a {item.form}; expected one of {', '.join(_FORMS)}"
        elif not isinstance(item, plain):
            yield f"“{name}” is neither a drawn tensor nor a number or text"
    if not any(isinstance(item, RandomTensor) for item in arguments.values()):
        yield "nothing in it is drawn, so that every call would have the same inputs"


def speed_findings(question: Question, path: DocumentPath) -> Iterator[ProblemAt]:
    """Yield what keeps the speed of a question from being measured as it says."""
    for check, test in speed_tests(question.checks, on_device=True):
        here = (*path, "checks", question.checks.index(check))
        yield from _case(check, test, question, here)
        yield from _values_on_device(test, question, here)


def _case(
    check: Check, test: SpeedTest, question: Question, here: DocumentPath
) -> Iterator[ProblemAt]:
    cases = {case.id: case for case in question.cases}
    timed = cases.get(test.case)
    if timed is None:
        hint = nearest(test.case, cases) or f"; known are {', '.join(cases)}"
        yield (*here, "case"), f"no case is called “{test.case}”{hint}"
    elif check.cases is not None and test.case not in check.cases:
        yield (*here, "cases"), f"the case that is timed, “{test.case}”, is not among them"
    elif text := _unfit_on_device(timed):
        yield (*here, "case"), f"the case “{test.case}” cannot be timed: {text}"


def _unfit_on_device(case: Case) -> str:
    if case.generate is not None or case.scenario is not None:
        return "it has a generator or a scenario; give “args”"
    if not any(isinstance(item, RandomTensor) for item in case.args.values()):
        return "nothing in its “args” is drawn, so that every call would have the same inputs"
    return ""


def _values_on_device(
    test: SpeedTest, question: Question, here: DocumentPath
) -> Iterator[ProblemAt]:
    speeds = [check for check, _ in speed_tests(question.checks, on_device=True)]
    others = {other.id: other for other in question.checks if other not in speeds}
    rule = others.get(test.values)
    if rule is None:
        hint = nearest(test.values, others) or f"; known are {', '.join(others)}"
        yield (*here, "values"), f"no check is called “{test.values}”{hint}"
    elif rule.needs() or rule.companions() is not None:
        yield (
            (*here, "values"),
            f"the check “{test.values}” needs more than a call's result; name one of kind "
            "product, close or exact",
        )
