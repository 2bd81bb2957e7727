"""Which of an assignment's points a platform can give: found out by grading the reference.

It is graded as the platform will do it: on virtual GPUs, with what the sandbox of a tier grants.
Where this machine cannot set that sandbox up, the reference, which is nobody's submission, runs
without one; what the sandbox would not have granted is refused all the same.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from grader.assignment.types import Assignment, Question
from grader.errors import InfrastructureError
from grader.report.model import CheckResult, Report
from grader.run.capabilities import Grants, resolve
from grader.run.grade import Grader, Options
from grader.run.materials import Materials
from grader.run.observe import Progress
from grader.sandbox.host.guests import GuestNeeds, Sandbox
from grader.sandbox.host.oneshot import OneShotSandbox
from grader.sandbox.host.open import Choice, open_sandbox
from grader.verdict import Code, Status, Verdict

_SLACK = 1e-6


class Why(str, Enum):
    """Why the reference did not earn some points."""

    OUT_OF_REACH = "out of reach"
    UNDECIDED = "undecided"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Unearned:
    """A check for which the reference did not earn all points.

    Attributes:
        question: Its id.
        check: Its id.
        points: That it did not earn.
        why: Whether anybody could earn them on the platform.
        reason: In words.
    """

    question: str
    check: str
    points: float
    why: Why
    reason: str


@dataclass(frozen=True, slots=True)
class Reach:
    """What the reference earned.

    Attributes:
        maximum: Points of the assignment.
        unearned: What it did not earn, in the order of the assignment.
        seconds: What the whole run took, the reference's own answers included.
        hanging: Seconds that a submission may take beyond that which hangs in every question.
        no_walls: Why the sandbox could not be set up here; empty where it was.
    """

    maximum: float
    unearned: tuple[Unearned, ...]
    seconds: float = 0.0
    hanging: float = 0.0
    no_walls: str = ""

    def of(self, why: Why) -> tuple[Unearned, ...]:
        """Return what was not earned for one sort of reason."""
        return tuple(each for each in self.unearned if each.why is why)

    @property
    def within(self) -> float:
        """Points that can be earned on the platform."""
        return self.maximum - math.fsum(each.points for each in self.of(Why.OUT_OF_REACH))


class _WithoutWalls(OneShotSandbox):
    """Runs code that is trusted; grants what a tier would."""

    def __init__(self, grants: Grants) -> None:
        super().__init__()
        self._grants = grants

    def grants(self, needs: GuestNeeds) -> bool:
        """See ``Sandbox.grants``."""
        return self._grants(needs)


def gradable(questions: Sequence[Question], tier: Choice) -> list[Question]:
    """Return the questions that a machine without a GPU can grade on some tier.

    Args:
        questions: Of the assignment.
        tier: Of the sandbox; ``auto`` counts as the least that it may come to.
    """
    return [
        each
        for each in questions
        if not isinstance(resolve(each, "virtual", 0, _grants(tier)), Verdict)
    ]


def try_reference(materials: Materials, tier: Choice, progress: Progress) -> Reach:
    """Grade the reference as a platform will, and return what it earns.

    Args:
        materials: The assignment.
        tier: Of the sandbox there; ``auto`` counts as the least that it may come to.
        progress: Told the id of each question as it begins.

    Raises:
        AssignmentError: The reference, a generator or a scenario does not do what it should.
        InfrastructureError: No student process can be started.
    """
    began = time.monotonic()
    sandbox, no_walls = _sandbox(tier)
    with sandbox:
        grader = Grader(materials, sandbox, Options(secrets.randbelow(2**31), "virtual", (), True))
        grader.prepare()
        report = grader.grade(materials.reference_folder, "reference", progress)
    return replace(
        reach_of(report, materials.assignment),
        seconds=time.monotonic() - began,
        hanging=_hanging(materials.assignment, tier),
        no_walls=no_walls,
    )


def reach_of(report: Report, assignment: Assignment) -> Reach:
    """Return what a report on the reference says of the points.

    Args:
        report: Made as the platform will make it.
        assignment: The same.
    """
    questions = {question.id: question for question in assignment.questions}
    unearned = tuple(
        Unearned(
            result.id,
            check.id,
            check.max_score - check.score,
            _why(check),
            _reason(check, questions[result.id]),
        )
        for result in report.questions
        for check in result.checks
        if check.status is not Status.PASSED or check.max_score - check.score > _SLACK
    )
    return Reach(assignment.points, unearned)


def _why(check: CheckResult) -> Why:
    if check.code in (Code.NO_DEVICE, Code.NO_PERMISSION, Code.NO_PACKAGE):
        return Why.OUT_OF_REACH
    return Why.UNDECIDED if check.pending or not check.max_score else Why.LOST


def _reason(check: CheckResult, question: Question) -> str:
    if check.code is Code.NO_DEVICE:
        return "is timed on a real GPU"
    if check.code is Code.NO_PACKAGE:
        return f"needs {', '.join(question.needs.packages)}, which is not installed here"
    if check.code is Code.NO_PERMISSION:
        wanted = ["other processes"] * bool(question.needs.processes)
        wanted += ["a network of its own"] * question.needs.loopback
        return f"needs {' and '.join(wanted)}, which the sandbox there does not allow"
    return check.message or check.code.value


def _sandbox(tier: Choice) -> tuple[Sandbox, str]:
    wanted: Choice = "restricted" if tier == "auto" else tier
    try:
        return open_sandbox(wanted), ""
    except InfrastructureError as error:
        # Its second line names what was tried first, and why that does not hold.
        lines = str(error).splitlines()
        return _WithoutWalls(_grants(tier)), lines[min(1, len(lines) - 1)].strip()


def _grants(tier: Choice) -> Grants:
    if tier in ("full", "none"):
        return lambda needs: not needs.cuda
    return lambda needs: not (needs.cuda or needs.processes or needs.loopback)


def _hanging(assignment: Assignment, tier: Choice) -> float:
    limits = map(assignment.limits_of, gradable(assignment.questions, tier))
    return math.fsum(each.seconds for each in limits)
