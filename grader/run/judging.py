"""Verdicts on all questions of a hand-in, from what was observed of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.run.observe import QuestionRun
from grader.run.packages import lacking_at_import
from grader.run.plan import PlannedQuestion
from grader.run.verdicts import Verdicts, for_all, judge_question
from grader.verdict import Code, Message, Owner, Verdict, fault


def judge_all(
    plan: Sequence[PlannedQuestion],
    reference: Mapping[str, QuestionRun],
    runs: Mapping[str, QuestionRun],
    missing: Mapping[str, str],
) -> dict[str, Verdicts]:
    """Return question → verdicts, for the questions that were run.

    Args:
        plan: What was called.
        reference: What came of it for the reference, by question id.
        runs: The same for the hand-in.
        missing: Packages that guests cannot import → why.
    """
    judged: dict[str, Verdicts] = {}
    for planned in plan:
        name = planned.question.id
        if name not in runs:
            continue
        if lack := lacking_at_import(runs[name], missing):
            judged[name] = for_all(planned.question, lack)
        else:
            judged[name] = judge_question(planned, reference[name], runs[name])
    return judged


def machine_fault(reason: str) -> Verdict:
    """Return the verdict where the machine, not the hand-in, is at fault; it costs nothing."""
    message = Message("sandbox_failed", {"detail": reason})
    return fault(Code.SANDBOX_FAILED, Owner.INFRASTRUCTURE, message)
