"""Changes on top of the grader's own verdicts: decisions of people, and points filled by a merge.

The journal keeps the grader's own verdicts unchanged. Decisions are applied whenever reports are
read from it. So they survive ``--resume``, ``rejudge``, ``regrade`` and ``merge``, and can be taken
back. Observations of another machine are not kept here and cannot be judged again: its verdicts are
taken over while the check is still worth the same points.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import AwareDatetime, BaseModel, ConfigDict

from grader.errors import UsageError, nearest
from grader.report.build import PLACES
from grader.report.merge import undecided, with_checks, with_results
from grader.report.messages.words import Words
from grader.report.model import CheckResult, QuestionResult, Report
from grader.report.summary import amount, counted
from grader.verdict import Basis, Code, Message, Owner, Param, Status


def carry(before: Report, after: Report) -> Report:
    """Return the later report with the checks that a merge had decided and that it leaves open."""
    filled = {name for info in before.merged for name in info.checks}
    known = {
        place: check
        for place, check in before.by_place().items()
        if ".".join(place) in filled and not undecided(check)
    }
    taken: set[str] = set()
    questions = tuple(_carry(question, known, taken) for question in after.questions)
    if not taken:
        return after
    merged = tuple(
        info.model_copy(update={"checks": tuple(name for name in info.checks if name in taken)})
        for info in before.merged
    )
    return with_results(after, questions, merged=tuple(info for info in merged if info.checks))


def _carry(
    question: QuestionResult, known: dict[tuple[str, str], CheckResult], taken: set[str]
) -> QuestionResult:
    checks: list[CheckResult] = []
    for check in question.checks:
        earlier = known.get((question.id, check.id))
        # Of another worth it is another rule by now, and what a GPU machine said of the old one
        # does not hold for it.
        if earlier and undecided(check) and earlier.max_score == check.max_score:
            taken.add(f"{question.id}.{check.id}")
            checks.append(earlier)
        else:
            checks.append(check)
    return with_checks(question, checks)


MAX_WHY = 500


class PersonDecision(BaseModel):
    """What a person gives for a check.

    Attributes:
        question: Id.
        check: Id.
        points: Given, up to the check's.
        why: The reason, which the student reads.
        who: Decided.
        at: When.
        said: What the grader had said: its code.
        said_points: … and its points, of …
        worth: … so many.
    """

    model_config = ConfigDict(frozen=True)

    question: str
    check: str
    points: float
    why: str
    who: str
    at: AwareDatetime
    said: Code
    said_points: float
    worth: float

    @property
    def place(self) -> str:
        """``question.check``."""
        return f"{self.question}.{self.check}"


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


def with_decisions(report: Report, decisions: Iterable[PersonDecision], words: Words) -> Report:
    """Return a report with what a person decided in the place of what the grader said.

    Args:
        report: As the grader made it.
        decisions: On its checks. One on a check that is not there any more, or that is worth
            something else by now, is left out.
        words: Of the sentence that the student reads.
    """
    by_place = {item.place: item for item in decisions if not outdated(report, item)}
    if not by_place:
        return report
    return with_results(
        report, [_decided(question, by_place, words) for question in report.questions]
    )


def outdated(report: Report, decision: PersonDecision) -> bool:
    """Tell whether a decision cannot count: its check is gone, or worth something else."""
    found = check_at(report, decision.place)
    # Points were given out of what the check was worth then. Out of another maximum the same number
    # would be another grade.
    return found is None or found.max_score != decision.worth


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


def _decided(
    question: QuestionResult, by_place: dict[str, PersonDecision], words: Words
) -> QuestionResult:
    checks = [
        _laid_over(check, by_place[place], words)
        if (place := f"{question.id}.{check.id}") in by_place
        else check
        for check in question.checks
    ]
    return with_checks(question, checks)


def _laid_over(check: CheckResult, decision: PersonDecision, words: Words) -> CheckResult:
    whole = decision.points >= check.max_score
    params: dict[str, Param] = {
        "points": decision.points,
        "worth": decision.worth,
        "why": decision.why,
    }
    message = Message("decided", params)
    said = words.render(message)
    return check.model_copy(
        update={
            "status": Status.PASSED
            if whole
            else Status.PARTIAL
            if decision.points
            else Status.FAILED,
            "code": Code.DECIDED,
            "owner": None if whole else Owner.STUDENT,
            # A person's word: nothing in it rests on what the student process claimed any more.
            "basis": Basis.FACT,
            "score": decision.points,
            "pending": 0.0,
            "message": f"{said} ({decision.who}, {decision.at:%Y-%m-%d %H:%M %Z}; the grader had "
            f"said: {check.code.value}, {counted(check.score, 'point')}. {check.message})",
            # Without what the grader had said: its message for staff may hold inputs of hidden
            # cases.
            "student_message": said,
            "message_id": message.id,
            "params": params,
        }
    )


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
