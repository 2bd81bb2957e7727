"""What must hold in an assignment, beyond what each part says by itself.

Between questions and files, inside a question, inside a case, and of a case that is timed.
"""

from __future__ import annotations

import math
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
from grader.assignment.types import Assignment, Case, Question, TimingSettings
from grader.checks import KINDS
from grader.checks.base import Check, Probe, SpeedTest
from grader.checks.speed import speed_tests
from grader.errors import nearest

_MAX_CORNERS = 1024
_TIMED_FORMS = ("randn", "rand", "integers")


def assignment_findings(assignment: Assignment) -> Iterator[ProblemAt]:
    """Yield what is wrong between questions, and between files; questions are not looked into."""
    ids = [question.id for question in assignment.questions]
    yield from _repeats(ids, ("questions",), "question")
    for index, name in enumerate(assignment.given):
        if name in ids:
            yield ("given", index), f"“{name}” is a question; what the starter gives is not graded"
    for index, name in enumerate(assignment.support):
        if name in assignment.hand_in:
            yield ("support", index), f"“{name}” is also under hand_in; keep one of the two"
    yield from _repeats(assignment.hand_in, ("hand_in",), "file", leaf="")
    yield from _repeats(assignment.support, ("support",), "file", leaf="")
    yield from _files(assignment)
    yield from _modules(assignment)


def _files(assignment: Assignment) -> Iterator[ProblemAt]:
    for index, question in enumerate(assignment.questions):
        here, file = ("questions", index, "file"), question.file
        if file is None:
            continue
        if question.document:
            yield from _document(assignment, file, here)
        elif file not in assignment.hand_in:
            hint = nearest(file, assignment.hand_in)
            yield here, f"“{file}” is not under hand_in, so nobody hands it in{hint}"
        elif not (file.endswith(".py") and file.removesuffix(".py").isidentifier()):
            yield here, f"“{file}” cannot be imported by its name; call it NAME.py, in no folder"


def _document(assignment: Assignment, file: str, here: DocumentPath) -> Iterator[ProblemAt]:
    if file in assignment.hand_in or file in assignment.support:
        text = "is also under hand_in or support; what a person reads stands at its question alone"
        yield here, f"“{file}” {text}"
    if "/" in file or file.endswith(".ipynb"):
        yield here, f"“{file}” must lie beside {assignment.module}, and be no notebook"


def _document_question(question: Question, path: DocumentPath) -> Iterator[ProblemAt]:
    """Yield what a question on a file that a person reads cannot have."""
    for key in ("cases", "entry", "timed", "limits"):
        if getattr(question, key):
            text = f"nothing is run where “{question.file}” is read by a person; remove it"
            yield (*path, key), text
    for index, check in enumerate(question.checks):
        if check.diagnostic or not check.by_person:
            text = f"“{question.file}” is read by a person, so all checks are of kind by_hand"
            yield (*path, "checks", index, "kind"), text


def _modules(assignment: Assignment) -> Iterator[ProblemAt]:
    for name, file in assignment.modules.items():
        if not all(part.isidentifier() for part in name.split(".")):
            yield ("modules", name), f"“{name}” is no name of a module, such as torchvision.models"
        if file not in assignment.support:
            hint = nearest(file, assignment.support)
            text = f"“{file}” is not under support, so no student process has it{hint}"
            yield ("modules", name), text
        elif not file.endswith(".py"):
            yield ("modules", name), f"“{file}” is no Python file"


def question_findings(question: Question, path: DocumentPath) -> Iterator[ProblemAt]:
    """Yield what is wrong inside one question that is well-formed by itself."""
    yield from _points(question, path)
    if not question.listed:
        yield (*path, "checks"), "all are diagnostic; one at least must be there to fail"
    yield from _repeats([check.id for check in question.checks], (*path, "checks"), "check")
    if question.document:
        yield from _document_question(question, path)
    elif not question.cases:
        yield (*path, "cases"), "is missing; it says what the function is called with"
    else:
        yield from _coded_question(question, path)


def _coded_question(question: Question, path: DocumentPath) -> Iterator[ProblemAt]:
    case_ids = [case.id for case in question.cases]
    check_ids = [check.id for check in question.checks]
    facts = {check.id for check in question.checks if not check.claim}
    yield from _repeats(case_ids, (*path, "cases"), "case")
    for index, check in enumerate(question.checks):
        here = (*path, "checks", index)
        yield from _references(check.cases, case_ids, (*here, "cases"), "case")
        yield from _references(check.requires, check_ids, (*here, "requires"), "check")
        if check.cases == ():
            yield (*here, "cases"), "an empty list judges nothing; remove it to judge every case"
        yield from _arguments(check, question, here)
        if check.of_a_timeline and not question.needs.timeline:
            yield here, "judges a timeline; say so: needs: {cuda: 2, timeline: true}"
        if Probe.DEVICES in check.needs() and not question.needs.cuda:
            yield here, "looks at what GPUs do, and the question needs none: needs: {cuda: 1}"
        # A student process says whatever it likes: alone, a claim would be points for the asking.
        if check.claim and check.points and not facts & set(check.requires or ()):
            yield (
                (*here, "claim"),
                "a claim earns points only beside values; name a check of values under “requires”",
            )
        yield from _diagnostic(check, question, here)
    yield from _real_gpus(question, path)
    if len(set(check_ids)) == len(check_ids):
        yield from _circles(question.checks, (*path, "checks"))
    yield from _unjudged(question, path)
    yield from timed_findings(question, path)
    yield from speed_findings(question, path)
    for index, case in enumerate(question.cases):
        yield from case_findings(case, (*path, "cases", index))


def _real_gpus(question: Question, path: DocumentPath) -> Iterator[ProblemAt]:
    real = {case.id for case in question.cases if case.real_gpu}
    for index, case in enumerate(question.cases):
        if case.real_gpu and not question.needs.cuda:
            yield (*path, "cases", index, "real_gpu"), "the question needs no GPU: needs: {cuda: 1}"
    for index, check in enumerate(question.checks):
        if real and set(check.cases or (case.id for case in question.cases)) <= real:
            text = "every case that it judges is left out on virtual GPUs; add a smaller one"
            yield (*path, "checks", index), text


def _points(question: Question, path: DocumentPath) -> Iterator[ProblemAt]:
    total = math.fsum(check.points for check in question.checks if not check.bonus)
    extra = [index for index, check in enumerate(question.checks) if check.bonus]
    for index in extra if question.bonus else ():
        yield (*path, "checks", index, "bonus"), "the whole question is a bonus; remove one of them"
    if not question.bonus and len(extra) == len(question.listed) > 0:
        yield (*path, "checks"), "all are a bonus; say so of the question: bonus: true"
    if not math.isclose(total, question.points, abs_tol=1e-6):
        text = f"found {question.points:g}, but the points of its checks add up to {total:g}"
        yield (*path, "points"), text + (", without bonus" if extra else "")


def _repeats(
    ids: Iterable[str], path: DocumentPath, what: str, leaf: str = "id"
) -> Iterator[ProblemAt]:
    first: dict[str, int] = {}
    for index, name in enumerate(ids):
        if name in first:
            step = (*path, index, leaf) if leaf else (*path, index)
            yield step, f"the {what} “{name}” is already {path[-1]}[{first[name]}]"
        first.setdefault(name, index)


def _references(
    names: Iterable[str] | None, known: list[str], path: DocumentPath, what: str
) -> Iterator[ProblemAt]:
    for index, name in enumerate(names or ()):
        if name not in known:
            hint = nearest(name, known) or f"; known are {', '.join(known)}"
            yield (*path, index), f"no {what} is called “{name}”{hint}"


def _arguments(check: Check, question: Question, path: DocumentPath) -> Iterator[ProblemAt]:
    """Yield arguments that a check refers to and a case that it judges does not have."""
    for case in question.cases:
        if case.generate is not None or (check.cases is not None and case.id not in check.cases):
            continue
        known = list(case.args)
        for name in check.arguments():
            if name not in known and name not in range(len(known)):
                hint = nearest(str(name), known) or f"; it has {', '.join(known) or 'none'}"
                yield path, f"the case “{case.id}” has no argument “{name}”{hint}"


def _diagnostic(check: Check, question: Question, path: DocumentPath) -> Iterator[ProblemAt]:
    """Yield what a diagnostic check cannot have, and that others rest on one."""
    known = {other.id: other for other in question.checks}
    for name in check.requires or ():
        if not check.diagnostic and name in known and known[name].diagnostic:
            yield (*path, "requires"), f"“{name}” is diagnostic: nothing may depend on it"
    if not check.diagnostic:
        return
    if check.message is None:
        text = "needs a “message”: it is all that a student reads of a diagnostic check"
        yield (*path, "diagnostic"), text
    for key in ("points", "bonus", "hint", "visibility"):
        if getattr(check, key):
            text = "a diagnostic check earns nothing, and another check says its message; remove "
            yield (*path, key), f"{text}“{key}”" if key != "points" else f"{text}them: points: 0"
    if check.by_person or check.speed() is not None or check.hears_time():
        text = f"kind {check.kind} is judged by a person or a clock, and cannot be diagnostic"
        yield (*path, "kind"), text


def _circles(checks: tuple[Check, ...], path: DocumentPath) -> Iterator[ProblemAt]:
    wanted = {check.id: frozenset(check.requires or ()) for check in checks}
    for index, check in enumerate(checks):
        if check.id in reachable(wanted[check.id], wanted):
            yield (*path, index, "requires"), f"“{check.id}” ends up requiring itself"


def reachable(names: Iterable[str], leads_to: Mapping[str, Iterable[str]]) -> set[str]:
    """Return these names and all that they lead to, directly or by others."""
    reached: set[str] = set()
    ahead = list(names)
    while ahead:
        name = ahead.pop()
        if name not in reached:
            reached.add(name)
            ahead += leads_to.get(name, ())
    return reached


def _unjudged(question: Question, path: DocumentPath) -> Iterator[ProblemAt]:
    if any(check.cases is None for check in question.checks):
        return
    judged = {name for check in question.checks for name in check.cases or ()}
    for index, case in enumerate(question.cases):
        if case.id not in judged:
            yield (*path, "cases", index, "id"), f"no check judges the case “{case.id}”"


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
    # The least and greatest value of every dim alone: sizes between them rarely leave that range,
    # and trying all would take longer than reading the file.
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
    try:
        return bytes_of(part, dims)
    except ValueError as error:
        return str(error)


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
    if case.scenario is not None:
        yield "it has a scenario"
        return
    if case.generate is not None:
        return
    arguments = {**case.args, **case.kwargs}
    plain = (type(None), bool, int, float, str)
    for name, item in arguments.items():
        if isinstance(item, RandomTensor):
            if item.form not in _TIMED_FORMS:
                yield f"“{name}” is a {item.form}; expected one of {', '.join(_TIMED_FORMS)}"
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
    elif timed.generate is not None or timed.scenario is not None:
        text = "it has a generator or a scenario; give “args”"
        yield (*here, "case"), f"the case “{test.case}” cannot be timed: {text}"
    elif not any(isinstance(item, RandomTensor) for item in timed.args.values()):
        text = "nothing in its “args” is drawn, so that every call would have the same inputs"
        yield (*here, "case"), f"the case “{test.case}” cannot be timed: {text}"


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
        text = f"the check “{test.values}” needs more than a call's result; name one of kind"
        yield (*here, "values"), f"{text} product, close or exact"
