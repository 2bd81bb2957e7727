"""What must hold for a question whose function is timed."""

from __future__ import annotations

from collections.abc import Iterator

from grader.assignment.document import Finding, Path
from grader.assignment.tensors import RandomTensor
from grader.assignment.types import Case, Question, Timed
from grader.checks import KINDS
from grader.errors import nearest

_FORMS = ("randn", "rand", "integers")


def timed_findings(question: Question, path: Path) -> Iterator[Finding]:
    """Yield what keeps a question from being timed as it says.

    Args:
        question: The question.
        path: Where it stands in its document.
    """
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


def _asked(question: Question, path: Path) -> Iterator[Finding]:
    timed = question.timed
    for index, check in enumerate(question.checks):
        test, here = check.speed(), (*path, "checks", index)
        if test is None or test.on_device:
            continue
        if timed is None:
            yield here, f"kind {check.kind} needs the question's “timed”: {{case: …, loop: …}}"
        elif check.cases != (timed.case,):
            yield (*here, "cases"), f"kind {check.kind} judges what is timed: [{timed.case}]"


def _sizes(case: Case, timed: Timed, path: Path) -> Iterator[Finding]:
    for name in timed.dims:
        if name not in case.dims:
            hint = nearest(name, case.dims) or f"; it has {', '.join(case.dims) or 'none'}"
            yield (*path, name), f"the case has no size “{name}”{hint}"


def _values(question: Question, path: Path) -> Iterator[Finding]:
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
