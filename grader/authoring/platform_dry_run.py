"""What a platform can give, found out here: which of an assignment's points, which packages.

Points: the reference is graded as the platform will do it, on virtual GPUs, with what the sandbox
of a tier grants. Where this machine cannot set that sandbox up, the reference, which is nobody's
submission, runs without one; what the sandbox would not have granted is refused all the same.

Packages: the versions are those that are installed where ``grader pack`` runs, with everything that
they need in turn, and so is the Python they go with: the very set that graded the reference just
before. A list that the program carries along would be older, and may not be what was tried.
"""

from __future__ import annotations

import importlib.metadata
import math
import platform
import secrets
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from grader.assignment.types import Assignment, Question
from grader.checks.by_hand import BY_HAND
from grader.errors import InfrastructureError, UsageError
from grader.grading import Grader, Options
from grader.report.layers import fold
from grader.report.model import CheckResult, Report
from grader.run.capabilities import Grants, resolve
from grader.run.materials import Materials
from grader.run.observe import Progress
from grader.sandbox.host.open import Choice, OneShotSandbox, open_sandbox
from grader.sandbox.host.processes import ProcessSpec, Sandbox
from grader.verdict import Code, Status, Verdict

_SLACK = 1e-6


class Why(str, Enum):
    """Why the reference did not earn some points; a person gives those *by hand*.

    What is *not counted* is out of the maximum.
    """

    OUT_OF_REACH = "out of reach"
    BY_HAND = "by hand"
    UNDECIDED = "undecided"
    LOST = "lost"
    UNCOUNTED = "not counted"


@dataclass(frozen=True, slots=True)
class Unearned:
    """A check for which the reference did not earn all points.

    Attributes:
        question: Its id.
        check: Its id.
        points: That it did not earn.
        why: Whether anybody could earn them on the platform.
        reason: In words.
        bonus: They count above the maximum.
    """

    question: str
    check: str
    points: float
    why: Why
    reason: str
    bonus: bool = False


@dataclass(frozen=True, slots=True)
class Reach:
    """What the reference earned.

    Attributes:
        maximum: Points of the assignment.
        unearned: What it did not earn, in the order of the assignment.
        seconds: What the whole run took, the reference's own answers included.
        hanging: Seconds that a submission may take beyond that which hangs in every question.
        no_walls: Why the sandbox could not be set up here; empty where it was.
        uncounted: What is out of the maximum, as the course has no GPU.
    """

    maximum: float
    unearned: tuple[Unearned, ...]
    seconds: float = 0.0
    hanging: float = 0.0
    no_walls: str = ""
    uncounted: tuple[Unearned, ...] = ()

    def of(self, why: Why) -> tuple[Unearned, ...]:
        """Return what was not earned for one sort of reason."""
        return tuple(each for each in self.unearned if each.why is why)

    @property
    def within(self) -> float:
        """Points that can be earned on the platform."""
        beyond = (each.points for each in self.of(Why.OUT_OF_REACH) if not each.bonus)
        return self.maximum - math.fsum(beyond)


class _WithoutWalls(OneShotSandbox):
    """Runs code that is trusted; grants what a tier would."""

    def __init__(self, grants: Grants) -> None:
        super().__init__()
        self._grants = grants

    def grants(self, spec: ProcessSpec) -> bool:
        """See ``Sandbox.grants``."""
        return self._grants(spec)


def gradable(assignment: Assignment, tier: Choice) -> list[Question]:
    """Return the questions that a machine without a GPU can grade on some tier.

    Args:
        assignment: Its questions are looked at.
        tier: Of the sandbox; ``auto`` counts as the least that it may come to.
    """
    return [
        each
        for each in assignment.questions
        if not isinstance(resolve(assignment, each, "virtual", 0, _grants(tier)), Verdict)
    ]


def try_reference(
    materials: Materials, tier: Choice, progress: Progress, without_gpu: bool = False
) -> Reach:
    """Grade the reference as a platform will, and return what it earns.

    Args:
        materials: The assignment.
        tier: Of the sandbox there; ``auto`` counts as the least that it may come to.
        progress: Called with the id of each question as it begins.
        without_gpu: The course has no GPU.

    Raises:
        AssignmentError: The reference, a generator or a scenario does not do what it should.
        InfrastructureError: No student process can be started.
    """
    began = time.monotonic()
    sandbox, no_walls = _sandbox(tier)
    with sandbox:
        seed = secrets.randbelow(2**31)
        grader = Grader(materials, sandbox, Options(seed, "virtual", (), True, without_gpu))
        grader.prepare()
        report = grader.grade(materials.reference_folder, "reference", progress)
        report = fold(report, no_gpu=without_gpu)
    limits = map(materials.assignment.limits_of, gradable(materials.assignment, tier))
    return replace(
        reach_of(report, materials.assignment),
        seconds=time.monotonic() - began,
        hanging=math.fsum(each.seconds for each in limits),
        no_walls=no_walls,
    )


def reach_of(report: Report, assignment: Assignment) -> Reach:
    """Return what a report on the reference says of the points."""
    questions = {question.id: question for question in assignment.questions}
    everything = tuple(
        Unearned(
            result.id,
            check.id,
            check.max_score + check.uncounted - check.score,
            _why(check),
            _reason(check, questions[result.id]),
            result.bonus or check.bonus,
        )
        for result in report.questions
        for check in result.checks
        if check.status is not Status.PASSED or check.max_score - check.score > _SLACK
    )
    uncounted = tuple(each for each in everything if each.why is Why.UNCOUNTED)
    unearned = tuple(each for each in everything if each.why is not Why.UNCOUNTED)
    return Reach(report.max_score, unearned, uncounted=uncounted)


def _why(check: CheckResult) -> Why:
    if check.code is Code.NOT_COUNTED:
        return Why.UNCOUNTED
    if check.code in (Code.NO_DEVICE, Code.NO_PERMISSION, Code.NO_PACKAGE):
        return Why.OUT_OF_REACH
    if check.kind == BY_HAND:
        # The reference needs no report.pdf; a student's waits until somebody has read it.
        return Why.BY_HAND
    return Why.UNDECIDED if check.pending or not check.max_score else Why.LOST


def _reason(check: CheckResult, question: Question) -> str:
    if check.code in (Code.NO_DEVICE, Code.NOT_COUNTED):
        return "is timed on a real GPU"
    if check.code is Code.NO_PACKAGE:
        return f"needs {', '.join(question.needs.packages)}, which is not installed here"
    if check.kind == BY_HAND:
        return f"a person reads {question.file if question.document else 'the function'}"
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
        return lambda spec: not spec.cuda
    return lambda spec: not (spec.cuda or spec.processes or spec.loopback)


DISTRIBUTION = "torchgrade"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
"""PyTorch's own index of builds for the CPU. What the usual one gives brings gigabytes of CUDA."""
_TORCH = "torch"
# Modules that come with a package of another name, and not with the one they are found in.
_FROM = {"torch.utils.tensorboard": "tensorboard"}
# What pip sees on the platform, whatever this machine is.
_THERE = {
    "extra": "",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_system": "Linux",
    "sys_platform": "linux",
}


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a packed autograder installs.

    Attributes:
        python: Version of Python that all of it goes with, such as ``3.11``.
        torch: Version of torch, without the mark of its build.
        program: Requirements of this program.
        extras: Packages that questions declare beyond those.
        pins: ``name==version`` of each of these, and of all that they need.
    """

    python: str
    torch: str
    program: tuple[str, ...]
    extras: tuple[str, ...]
    pins: tuple[str, ...]

    @property
    def packages(self) -> tuple[str, ...]:
        """Requirements that pip installs from the pack's folder, after torch."""
        return (f"./{DISTRIBUTION}", *self.extras)


def required_by(questions: Iterable[Question]) -> Requirements:
    """Return what has to be installed to grade some questions.

    Args:
        questions: Those that can be graded on the platform.

    Raises:
        UsageError: This program is not installed, or a package that a question with points needs
            is not.
    """
    program = [str(need) for need in _needs(DISTRIBUTION)]
    wanted: dict[str, str] = {}
    for question in questions:
        for module in question.needs.packages:
            name = _distribution_of(module)
            if _installed(name):
                wanted[name] = module
            elif question.points:
                raise UsageError(
                    f"{question.id} needs the module {module}, which is not installed here, so "
                    "the version to pack is not known and the reference cannot be tried: "
                    f"pip install {name}, and pack again"
                )
    pins = _pins([*(need.name for need in _needs(DISTRIBUTION)), *wanted])
    direct = {canonicalize_name(need.name) for need in _needs(DISTRIBUTION)}
    return Requirements(
        python=".".join(platform.python_version_tuple()[:2]),
        torch=pins[_TORCH],
        program=tuple(program),
        extras=tuple(sorted(set(wanted) - direct)),
        pins=tuple(f"{name}=={version}" for name, version in sorted(pins.items())),
    )


def _distribution_of(module: str) -> str:
    """Return the name under which a module is installed; its own where nobody knows."""
    if module in _FROM:
        return _FROM[module]
    top = module.partition(".")[0]
    known = importlib.metadata.packages_distributions().get(top, [top])
    return canonicalize_name(known[0])


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _needs(name: str) -> Iterator[Requirement]:
    """Yield what a package needs on the platform, without its optional extras.

    Raises:
        UsageError: It is this program, and is not installed.
    """
    try:
        lines = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError as error:
        if name != DISTRIBUTION:
            return
        raise UsageError(
            f"{DISTRIBUTION} is not installed, only lying there; install it with pip to pack it"
        ) from error
    for line in lines:
        need = Requirement(line)
        if need.marker is None or need.marker.evaluate(_THERE):
            need.marker = None
            yield need


def _pins(names: Iterable[str]) -> dict[str, str]:
    """Return package → version for these and all that they need, where it is installed here."""
    pins: dict[str, str] = {}
    ahead = [canonicalize_name(name) for name in names]
    while ahead:
        name = ahead.pop()
        if name not in pins and _installed(name):
            # 2.13.0+cpu is 2.13.0 to every index.
            pins[name] = Version(importlib.metadata.version(name)).public
            ahead += [canonicalize_name(need.name) for need in _needs(name)]
    return pins
