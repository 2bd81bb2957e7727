"""What people decide on a check: points, items of a rubric, and which checks wait for somebody."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grader.errors import UsageError, nearest
from grader.report.build import PLACES
from grader.report.layers import PersonDecision
from grader.report.model import CheckResult, QuestionResult, Report
from grader.report.summary import amount, counted
from grader.verdict import Code

MAX_WHY = 500


def decide(report: Report, where: str, points: float, why: str, who: str) -> list[PersonDecision]:
    """Return the decisions that give a question or a check so many points.

    The points of a question are given to its checks in their order.

    Args:
        report: What the grader said.
        where: ``question`` or ``question.check``.
        points: 0 up to what it is worth.
        why: For the student; not empty.
        who: Decides.

    Raises:
        UsageError: There is no such question or check, it is worth less, or the reason is missing.
    """
    if not why.strip():
        raise UsageError("--why: say why, in a sentence that the student will read")
    if len(why) > MAX_WHY:
        raise UsageError(f"--why: at most {MAX_WHY} characters")
    question, checks = _place(report, where)
    worth = round(sum(check.max_score for check in checks), 4)
    if not 0 <= points <= worth:
        raise UsageError(
            f"--points {amount(points)}: {where} is worth 0 to {counted(worth, 'point')}"
        )
    now, decisions, left = dt.datetime.now(dt.timezone.utc), [], points
    for check in checks:
        given = min(left, check.max_score)
        # Rounded: thirds would leave a rest of 1e-16, with which the next check would count as
        # partly right.
        left = round(left - given, 4)
        decisions.append(
            PersonDecision(
                question=question.id,
                check=check.id,
                points=given,
                why=why.strip(),
                who=who,
                at=now,
                said=check.code,
                said_points=check.score,
                worth=check.max_score,
            )
        )
    return decisions


def judged_otherwise(report: Report, decision: PersonDecision) -> bool:
    """Tell whether the grader now says something else than when a person decided."""
    found = check_at(report, decision.place)
    return found is not None and (found.code, found.score) != (decision.said, decision.said_points)


def awaited(report: Report) -> list[tuple[QuestionResult, CheckResult]]:
    """Return the checks that wait for a person."""
    return [
        (question, check)
        for question in report.questions
        for check in question.checks
        if check.code is Code.NEEDS_REVIEW and check.pending
    ]


def check_at(report: Report, place: str) -> CheckResult | None:
    """Return the check that ``question.check`` names; None if it is not there."""
    return next((check for name, check in report.checks() if f"{name}.{check.id}" == place), None)


def same_finding(check: CheckResult, other: CheckResult) -> bool:
    """Tell whether two verdicts of a check rest on the same finding."""
    return (check.code, check.message_id, check.student_message) == (
        other.code, other.message_id, other.student_message,
    )  # fmt: skip


def _place(report: Report, where: str) -> tuple[QuestionResult, Sequence[CheckResult]]:
    name, _, wanted = where.partition(".")
    known = {question.id: question for question in report.questions}
    if name not in known:
        raise UsageError(f"no question “{name}” in {report.assignment.id}{nearest(name, known)}")
    question = known[name]
    if not wanted:
        return question, question.checks
    checks = {check.id: check for check in question.checks}
    if wanted not in checks:
        raise UsageError(f"no check “{wanted}” in {name}{nearest(wanted, checks)}")
    return question, [checks[wanted]]


KEYS = "abcdefghijklmnoprstu"
"""Keys of the items of a rubric, in order; without q, which ends a review."""


@dataclass(frozen=True, slots=True)
class RubricPart:
    """One thing to look for.

    Attributes:
        name: Its id, or its number from 1.
        text: What to look for, as the student reads it.
        points: What it is worth.
    """

    name: str
    text: str
    points: float


@dataclass(frozen=True, slots=True)
class Met:
    """What a person gives by items.

    Attributes:
        place: ``question.check``.
        points: Sum of the items.
        why: For the student: the items, then what the person adds.
    """

    place: str
    points: float
    why: str


def rubric_of(check: CheckResult) -> tuple[RubricPart, ...]:
    """Return the items of a check's rubric; none if it has no rubric, or nothing to read."""
    found = check.evidence.get("rubric")
    rows = found if isinstance(found, list) else []
    return tuple(
        RubricPart(str(row[0]), str(row[1]), float(str(row[2])))
        for row in rows
        if isinstance(row, list) and len(row) == 3
    )


def met(report: Report, where: str, names: Iterable[str], why: str = "") -> Met:
    """Return what items of a rubric give.

    Args:
        report: What the grader said.
        where: ``question.check``, or a question of which one check has a rubric.
        names: Of the items that are met.
        why: What the person adds.

    Raises:
        UsageError: There is no such check, it has no rubric, or that has no such item.
    """
    place, items = _rubric_at(report, where)
    known = {item.name: item for item in items}
    asked = dict.fromkeys(names)
    for name in asked:
        if name not in known:
            hint = nearest(name, known) or f"; known are {', '.join(known)}"
            raise UsageError(f"--item {name}: no such item in the rubric of {place}{hint}")
    return _given(place, [item for item in items if item.name in asked], why)


def _given(place: str, items: Sequence[RubricPart], why: str) -> Met:
    points = round(math.fsum(item.points for item in items), PLACES)
    said = "; ".join(f"{item.text} ({amount(item.points)})" for item in items)
    if len(said) + len(why) > MAX_WHY - len(". "):
        said = ", ".join(item.name for item in items)
    return Met(place, points, ". ".join(part for part in (said, why.strip()) if part))


def _rubric_at(report: Report, where: str) -> tuple[str, tuple[RubricPart, ...]]:
    places = [where] if "." in where else _places(report, where)
    found = [
        (place, items)
        for place in places
        if (check := check_at(report, place)) and (items := rubric_of(check))
    ]
    if len(found) != 1:
        what = "several checks with a rubric" if found else "no check with a rubric to go by"
        raise UsageError(f"--item: {what} at {where}; name QUESTION.CHECK, or give --points")
    return found[0]


def _places(report: Report, name: str) -> list[str]:
    return [f"{name}.{check.id}" for question, check in report.checks() if question == name]
