"""What must hold for a check of kind ``speedup``: a case with drawn inputs, a rule for values."""

from __future__ import annotations

from collections.abc import Iterator

from grader.assignment.document import Finding, Path
from grader.assignment.tensors import RandomTensor
from grader.assignment.types import Case, Question
from grader.checks.base import Check, SpeedTest
from grader.checks.timed import speed_tests
from grader.errors import nearest


def speed_findings(question: Question, path: Path) -> Iterator[Finding]:
    """Yield what keeps the speed of a question from being measured as it says.

    Args:
        question: The question.
        path: Where it stands in its document.
    """
    for check, test in speed_tests(question.checks, on_device=True):
        here = (*path, "checks", question.checks.index(check))
        yield from _case(check, test, question, here)
        yield from _values(test, question, here)


def _case(check: Check, test: SpeedTest, question: Question, here: Path) -> Iterator[Finding]:
    cases = {case.id: case for case in question.cases}
    timed = cases.get(test.case)
    if timed is None:
        hint = nearest(test.case, cases) or f"; known are {', '.join(cases)}"
        yield (*here, "case"), f"no case is called “{test.case}”{hint}"
    elif check.cases is not None and test.case not in check.cases:
        yield (*here, "cases"), f"the case that is timed, “{test.case}”, is not among them"
    elif text := _unfit(timed):
        yield (*here, "case"), f"the case “{test.case}” cannot be timed: {text}"


def _unfit(case: Case) -> str:
    if case.generate is not None or case.scenario is not None:
        return "it has a generator or a scenario; give “args”"
    if not any(isinstance(item, RandomTensor) for item in case.args.values()):
        return "nothing in its “args” is drawn, so that every call would have the same inputs"
    return ""


def _values(test: SpeedTest, question: Question, here: Path) -> Iterator[Finding]:
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
