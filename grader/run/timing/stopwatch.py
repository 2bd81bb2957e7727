"""What timing on a processor and on a GPU share: rounds of a set, and sets until they decide.

A set times fresh processes of several parties in turns. Every round has inputs of its own, drawn
for it alone, and every timed result of the submission is compared with the reference's: what is
fast has to be right as well, in that very call. A clock starts before the first byte of the inputs
is sent and stops after the last byte of the results has arrived. Which clock that is, and what else
a party needs, is for a ``TimingClock`` to say.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from grader.assignment.types import Limits
from grader.checks.base import CaseInputs, Check
from grader.observation import FunctionTiming, Observation
from grader.run.plan import PlannedQuestion
from grader.run.process_limits import process_spec
from grader.sandbox.host.processes import ProcessSpec
from grader.speed_statistics.sampling import (
    STANDARD_PLAN,
    Party,
    Plan,
    Run,
    interleave,
    joined,
    usable,
)
from grader.wire.tree import leaves
from grader.wire.values import Tensor, Value

Inputs = tuple[tuple[Value, ...], dict[str, Value]]
"""Positional and keyword arguments of a block."""

Draw = Callable[[int, int], Inputs]
"""Draws inputs, given the number of the draw and of calls: arguments with all calls' tensors."""

_TOP_UPS = 2
"""Times that rounds are made anew in the place of those that were set aside."""


class NotTimedError(Exception):
    """A block could not be timed, by nobody's fault. Its text is the id of a message."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is timed: a question's function in a submission.

    Attributes:
        planned: The question.
        entry: Name of the function in the submission.
        reference_entry: Its name in the reference.
        files: The submission.
        limits: Of the question.
    """

    planned: PlannedQuestion
    entry: str
    reference_entry: str
    files: Mapping[str, bytes]
    limits: Limits

    @property
    def module(self) -> str:
        """File that both functions stand in; empty for the assignment's own."""
        return self.planned.question.file or ""

    @property
    def process(self) -> ProcessSpec:
        """What a process gets whose work the processor's clock times."""
        return replace(process_spec(self.limits, self.module), timed=True)


@dataclass(frozen=True, slots=True)
class Job:
    """What is timed in a set.

    Attributes:
        entries: Party → name of the function in its own process.
        inputs: The case, and its inputs once: their sizes are those of every call.
        draw: Draws the inputs of a block.
        rule: That the values of every call must pass.
        seconds: Deadline of a block.
        plan: How much is timed.
    """

    entries: Mapping[str, str]
    inputs: CaseInputs
    draw: Draw
    rule: Check
    seconds: float
    plan: Plan = STANDARD_PLAN


@dataclass(slots=True)
class SetOutcome:
    """What came of a set.

    Attributes:
        run: The blocks; None where a call of the submission failed or was wrong, or too few rounds
            could be used.
        outputs: Results that were compared.
        wrong: The reference's call and the submission's, for the first that differed.
        wrong_code: Code of the verdict on that.
        failed: A call of the submission that did not return, or how loading it ended.
        idle: Work that went on between the submission's blocks, as a share of that in them.
        set_aside: Rounds that were not used.
        reasons: Why they were not.
        cold: Party → seconds of its first call, in a fresh process.
    """

    run: Run | None = None
    outputs: int = 0
    wrong: tuple[Observation, Observation] | None = None
    wrong_code: str = ""
    failed: Observation | None = None
    idle: float = 0.0
    set_aside: int = 0
    reasons: tuple[str, ...] = ()
    cold: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Round:
    """The inputs of one round, and what came back: party → how many calls, and their results."""

    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    seen: dict[str, tuple[int, Observation]] = field(default_factory=dict)


class TimingClock(ABC):
    """Has the parties of one set make blocks, and reads how long they took.

    Args:
        job: What is timed.
        first_draw: Number of the first draw: no two sets have inputs in common.

    Attributes:
        outcome: What came of the blocks beside their times.
    """

    def __init__(self, job: Job, first_draw: int) -> None:
        self.job = job
        self.outcome = SetOutcome()
        self._draw_number = first_draw

    @property
    @abstractmethod
    def idle(self) -> float:
        """Work that went on between the submission's blocks, as a share of that in them."""

    @abstractmethod
    def warm_up(self) -> Plan | None:
        """Make first blocks, which do not count; return how many rounds follow.

        None where the submission failed, as ``outcome`` tells.
        """

    @abstractmethod
    def parties(self) -> Mapping[str, Party]:
        """Return what makes each party's block; rounds begin anew."""

    def lost(self, made: Run) -> Sequence[int]:  # noqa: ARG002  a processor loses none
        """Return the rounds among these that cannot be used."""
        return ()

    def drawn(self, calls: int) -> Inputs:
        """Draw inputs that no other block has."""
        # Before each draw: inputs that a process has seen before could be answered from a cache.
        self._draw_number += 1
        return self.job.draw(self._draw_number, calls)


class Stopwatch:
    """Times one set.

    Args:
        clock: Makes the blocks of its parties, and reads their times.
        random: Draws the order of the parties.
    """

    def __init__(self, clock: TimingClock, random: np.random.Generator) -> None:
        self._clock = clock
        self._random = random

    def measure(self) -> SetOutcome:
        """Time the set.

        Raises:
            InfrastructureError: A party of ours failed.
            NotTimedError: A clock could not be read, or the machine was too busy.
        """
        outcome, plan = self._clock.outcome, self._clock.warm_up()
        if plan is None:
            return outcome
        usable_rounds = Run()
        for _ in range(1 + _TOP_UPS):
            missing = plan.rounds - usable_rounds.rounds
            if missing < 1:
                break
            further = replace(plan, rounds=missing, fewest=min(plan.fewest, missing))
            # Whole rounds: a round without one party could not be compared, so it is made again for
            # all.
            made = interleave(self._clock.parties(), further, self._random)
            if made is None:
                return outcome
            lost = self._clock.lost(made)
            usable_rounds = joined(usable_rounds, usable(made, lost))
            if not lost:
                break
        # Too few rounds decide nothing, rather than something by noise.
        outcome.run = usable_rounds if usable_rounds.rounds >= plan.fewest else None
        outcome.idle = self._clock.idle
        return outcome


def with_set(timing: FunctionTiming, done: SetOutcome) -> FunctionTiming:
    """Return a timing with one more set."""
    return replace(
        timing,
        runs=timing.runs if done.run is None else (*timing.runs, done.run),
        outputs=timing.outputs + done.outputs,
        wrong=done.wrong,
        failed=done.failed,
        # The greatest, not the latest: one set with work between its blocks is enough to doubt them
        # all.
        idle=max(timing.idle, done.idle),
    )


def time_until(
    decided: Callable[[FunctionTiming], bool],
    further: Callable[[FunctionTiming], FunctionTiming],
    timing: FunctionTiming,
) -> FunctionTiming:
    """Make sets until they decide, or the submission fails in one.

    Args:
        decided: Whether no further set is needed.
        further: Makes one more set.
        timing: Without any.
    """
    while not decided(timing):
        timing = further(timing)
        if timing.wrong or timing.failed or timing.skipped:
            break
    return timing


def size_of(value: Value, plain: int = 0) -> int:
    """Return the bytes of a value; of what is no tensor, so many."""
    return sum(
        memoryview(leaf.data).nbytes if isinstance(leaf, Tensor) else plain
        for leaf in leaves(value)
    )
