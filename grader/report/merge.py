"""Completing a report with what another machine found out later. Pure.

A report of a machine without a GPU leaves points pending. A report of the same submission from a
machine that has one fills them. What was decided once stays as it was: nothing but pending checks
is ever replaced, so that merging twice changes nothing the second time.

Seeds may differ: each machine draws inputs of its own, and every check is judged within one run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.errors import UsageError
from grader.report.build import PLACES, question_status, report_status
from grader.report.model import CheckResult, MergedInfo, Place, QuestionResult, Report, above
from grader.verdict import Code, Status

_UNTOUCHED = frozenset({Code.NOT_RUN, Code.NO_DEVICE, Code.NO_PERMISSION})
"""Codes of a check that nobody has looked at yet; any other pending verdict says more."""


_DEVICES = frozenset(
    {
        Code.NO_DEVICE, Code.NO_PERMISSION, Code.DEVICE_FAILED, Code.NOT_TIMED, Code.INCONCLUSIVE,
    }
)  # fmt: skip
"""Codes of a pending check that a machine with a GPU can settle."""

Results = Mapping[Place, CheckResult]
"""Results by question and check."""


class MergeError(UsageError):
    """Reports that do not belong together."""


class ConflictError(MergeError):
    """Reports that contradict each other."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a merge may do on somebody's word only.

    Attributes:
        unwalled: Take points from runs without a sandbox (tier none) into a report that has them.
        conflicts: Leave a question as it is where the machines decided one of its checks
            differently.
    """

    unwalled: bool = False
    conflicts: bool = False


_NOTHING = Allowed()


def merge(base: Report, others: Sequence[Report], allowed: Allowed = _NOTHING) -> Report:
    """Return the base with its pending checks filled from the others, in their order.

    Args:
        base: What is to be completed; its environment and timing stay.
        others: Reports of the same submission and assignment.
        allowed: What may be done beyond that.

    Raises:
        ConflictError: Two of them decided a check differently, and that was not allowed.
        MergeError: A report is of another submission or assignment, or was made without a sandbox,
            and that was not allowed.
    """
    for other in others:
        _refuse_strangers(base, other)
        # Without a sandbox the submission could have written these points itself.
        if base.official and not other.official and not allowed.unwalled:
            raise MergeError(
                f"{_name(other)}: was graded without a sandbox (isolation tier none), and the "
                "report to be completed with one. If the GPU worker took only submissions that had "
                "passed before, pass --accept-unwalled; the merged report says so"
            )
        base = _merge(base, other, allowed)
    return base


def undecided(check: CheckResult) -> bool:
    """Tell whether a check still waits for a run, a machine or a person."""
    if check.pending or check.status.open:
        return True
    return check.status is Status.SKIPPED and check.code is Code.NOT_RUN


def waits_for_device(question: QuestionResult) -> bool:
    """Tell whether a question waits for a device, and all else that is decided of it has passed."""
    open_checks = [check for check in question.checks if undecided(check)]
    decided = [check for check in question.checks if not undecided(check)]
    return any(check.code in _DEVICES for check in open_checks) and all(
        check.status.earned for check in decided
    )


def _refuse_strangers(base: Report, other: Report) -> None:
    ours, theirs = base.assignment, other.assignment
    # By digest too: a file that changed without a new version would mix points of two assignments.
    if (ours.id, ours.version, ours.digest) != (theirs.id, theirs.version, theirs.digest):
        raise MergeError(
            f"{_name(other)}: is of another assignment: {ours.id} version {ours.version} "
            f"({_short(ours.digest)}) here, {theirs.id} version {theirs.version} "
            f"({_short(theirs.digest)}) there; grade both with the same files"
        )
    if base.submission.digest != other.submission.digest:
        raise MergeError(
            f"{_name(other)}: is of another submission: “{base.submission.id}” with "
            f"{_short(base.submission.digest)} here, “{other.submission.id}” with "
            f"{_short(other.submission.digest)} there; grade the same files on both machines"
        )


def _merge(base: Report, other: Report, allowed: Allowed) -> Report:
    theirs = other.by_place()
    disputed = _disputes(base, theirs)
    if disputed and not allowed.conflicts:
        raise ConflictError(f"“{base.submission.id}”: {'; '.join(disputed.values())}")
    filled: list[str] = []
    questions = tuple(
        # A question that was decided in two ways is nobody's to complete but a person's.
        question if question.id in disputed else _question(question, theirs, filled)
        for question in base.questions
    )
    return _with(base, other, questions, filled) if filled else base


def _with(
    base: Report, other: Report, questions: tuple[QuestionResult, ...], filled: Sequence[str]
) -> Report:
    there = other.environment
    source = MergedInfo(
        device=there.device,
        isolation=there.isolation.tier,
        seed=there.seed,
        platform=there.platform,
        torch=there.torch,
        grader_version=there.grader_version,
        checks=tuple(filled),
    )
    return with_results(base, questions, merged=(*base.merged, source))


def _question(question: QuestionResult, theirs: Results, filled: list[str]) -> QuestionResult:
    checks: list[CheckResult] = []
    for check in question.checks:
        other = theirs.get((question.id, check.id), check)
        untouched = check.code in _UNTOUCHED and other.code not in _UNTOUCHED
        fills = undecided(check) and (untouched or not undecided(other))
        if fills:
            filled.append(f"{question.id}.{check.id}")
        checks.append(other if fills else check)
    return with_checks(question, checks)


def _disputes(base: Report, theirs: Results) -> dict[str, str]:
    """Return a sentence on each question with a check that was decided in two ways, by id."""
    disputes: dict[str, str] = {}
    for question in base.questions:
        for ours in question.checks:
            other = theirs.get((question.id, ours.id), ours)
            same = (ours.status, ours.score) == (other.status, other.score)
            if not (same or undecided(ours) or undecided(other)):
                disputes.setdefault(
                    question.id,
                    f"{question.id}.{ours.id}: was decided twice, and differently: {_brief(ours)} "
                    f"here, {_brief(other)} there",
                )
    return disputes


def sums(maximum: float, parts: Sequence[CheckResult | QuestionResult]) -> dict[str, float]:
    """Return the points of a whole from those of its parts, which were rounded."""
    # From what is lost: scores of thirds were rounded one by one, and would not add up to one.
    most = maximum + above(parts)
    pending = min(round(math.fsum(part.pending for part in parts), PLACES), most)
    lost = math.fsum(
        max(0.0, part.max_score + part.above - part.score - part.pending) for part in parts
    )
    earned = max(0.0, round(most - lost - pending, PLACES))
    return {"score": earned, "pending": pending, "max_score": maximum}


def with_checks(question: QuestionResult, checks: Sequence[CheckResult]) -> QuestionResult:
    """Return a question with these results of its checks, and the points that follow."""
    if tuple(checks) == question.checks:
        return question
    points = sums(question.max_score, checks)
    status = question_status(checks, **points)
    return question.model_copy(update={"checks": tuple(checks), "status": status, **points})


def with_results(report: Report, questions: Sequence[QuestionResult], **more: object) -> Report:
    """Return a report with these results of its questions, and the points that follow.

    Args:
        report: Its maximum stays.
        questions: All that it has.
        more: Further fields that change with them.
    """
    points = sums(report.max_score, questions)
    status = report_status(questions)
    return report.model_copy(
        update={"questions": tuple(questions), "status": status, **points, **more}
    )


def _brief(check: CheckResult) -> str:
    return f"{check.status.value} ({check.code.value}, {check.score:g} of {check.max_score:g})"


def _name(report: Report) -> str:
    return f"“{report.submission.id}”, graded on {report.environment.device}"


def _short(digest: str) -> str:
    return f"sha256 {digest[:12]}…" if digest else "no digest"
