"""Completing a report with what another machine found out later. Pure.

A report of a machine without a GPU leaves points pending. A report of the same submission from a
machine that has one fills them. What was decided once stays as it was: nothing but pending checks
is ever filled, so that merging twice changes nothing the second time.

Seeds may differ: each machine draws inputs of its own, and every check is judged within one run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from grader.errors import UsageError
from grader.report.layers import MachineLayer, fills, fold, undecided
from grader.report.model import CheckResult, MergedInfo, Place, QuestionResult, Report
from grader.verdict import Code

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


def completions(
    base: Report, others: Sequence[Report], allowed: Allowed = _NOTHING
) -> tuple[MachineLayer, ...]:
    """Return what fills pending checks of the base, in the order of the others.

    Args:
        base: What is to be completed.
        others: Reports of the same submission and assignment.
        allowed: What may be done beyond that.

    Raises:
        ConflictError: Two of them decided a check differently, and that was not allowed.
        MergeError: A report is of another submission or assignment, or was made without a sandbox,
            and that was not allowed.
    """
    layers = []
    for other in others:
        _refuse_strangers(base, other)
        # Without a sandbox the submission could have written these points itself.
        if base.official and not other.official and not allowed.unwalled:
            raise MergeError(
                f"{_name(other)}: was graded without a sandbox (isolation tier none), and the "
                "report to be completed with one. If the GPU worker took only submissions that had "
                "passed before, pass --accept-unwalled; the merged report says so"
            )
        theirs = other.by_place()
        disputed = _disputes(base, theirs)
        if disputed and not allowed.conflicts:
            raise ConflictError(f"“{base.submission.id}”: {'; '.join(disputed.values())}")
        # A question that was decided in two ways is nobody's to complete but a person's.
        if results := _filling(base, theirs, disputed):
            layers.append(MachineLayer(info=_info(other, results), results=results))
            base = fold(base, layers[-1:])
    return tuple(layers)


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


def _filling(
    base: Report, theirs: Results, disputed: Collection[str]
) -> dict[str, dict[str, CheckResult]]:
    """Return what fills open checks: question → check → result."""
    found: dict[str, dict[str, CheckResult]] = {}
    for question, check in base.checks():
        other = theirs.get((question, check.id))
        if other is not None and question not in disputed and fills(check, other):
            found.setdefault(question, {})[check.id] = other
    return found


def _info(other: Report, results: Mapping[str, Mapping[str, CheckResult]]) -> MergedInfo:
    there = other.environment
    return MergedInfo(
        device=there.device,
        isolation=there.isolation.tier,
        seed=there.seed,
        platform=there.platform,
        torch=there.torch,
        grader_version=there.grader_version,
        checks=tuple(f"{question}.{check}" for question in results for check in results[question]),
    )


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


def _brief(check: CheckResult) -> str:
    return f"{check.status.value} ({check.code.value}, {check.score:g} of {check.max_score:g})"


def _name(report: Report) -> str:
    return f"“{report.submission.id}”, graded on {report.environment.device}"


def _short(digest: str) -> str:
    return f"sha256 {digest[:12]}…" if digest else "no digest"
