"""What must hold for a question whose function is timed."""

from __future__ import annotations

from collections.abc import Iterator

from grader.checks.vectorised import Vectorised
from grader.errors import nearest
from grader.spec.document import Finding, Path
from grader.spec.tensors import RandomTensor
from grader.spec.types import Case, Question

_FORMS = ("randn", "rand", "integers")


def timed_findings(question: Question, path: Path) -> Iterator[Finding]:
    """Yield what keeps a question from being timed as it says.

    Args:
        question: The question.
        path: Where it stands in its document.
    """
    timed = question.timed
    for index, check in enumerate(question.checks):
        if isinstance(check, Vectorised):
            here = (*path, "checks", index)
            if timed is None:
                yield here, "kind vectorised needs the question's “timed”: {case: …, loop: …}"
            elif check.cases != (timed.case,):
                yield (*here, "cases"), f"kind vectorised judges what is timed: [{timed.case}]"
    if timed is None:
        return
    cases = {case.id: case for case in question.cases}
    if timed.case not in cases:
        hint = nearest(timed.case, cases) or f"; known are {', '.join(cases)}"
        yield (*path, "timed", "case"), f"no case is called “{timed.case}”{hint}"
        return
    for text in _unfit(cases[timed.case]):
        yield (*path, "timed", "case"), f"the case “{timed.case}” cannot be timed: {text}"


def _unfit(case: Case) -> Iterator[str]:
    """Yield why the inputs of a case cannot be drawn for many calls at once."""
    if case.generate is not None or case.scenario is not None:
        yield "it has a generator or a scenario; give “args”"
        return
    if case.repeats > 1:
        yield "it has repeats; remove them, its inputs are drawn anew for every call"
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
