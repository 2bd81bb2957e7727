"""Timing in passing: some blocks of a millisecond or two, beside a reference that stays.

What is clearly fast or clearly slow is settled here, beside other work, for some 20 ms of
processor time. All else is left to the careful stage, which has the machine for itself.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from statistics import median
from typing import TypeVar

import numpy as np

from grader.assignment.types import Limits
from grader.checks.speed import MOST_IDLE, speed_tests
from grader.errors import InfrastructureError
from grader.observation import FunctionTiming
from grader.run.answer_budget import AnswerBudget
from grader.run.materials import Materials
from grader.run.plan import PlannedQuestion
from grader.run.reference import names_in
from grader.run.session import ProcessSession
from grader.run.timing.full_measurement import job_of, timed_dims
from grader.run.timing.processor import ProcessorClock
from grader.run.timing.stopwatch import NotTimedError, SetOutcome, Subject
from grader.sandbox.host.processes import Sandbox
from grader.speed_statistics.credit import Credit, single
from grader.speed_statistics.sampling import Run, Sample, calls_for, keep_on, own_core, readable
from grader.speed_statistics.vectorisation import (
    LONE,
    LOOP,
    MOST_ROUNDS,
    STUDENT,
    VECTORISED,
    WARM_UP,
    Screen,
    Vote,
    per_call,
    request_of,
    settled,
    votes,
)

_BLOCK = 0.002
"""Seconds that a block's calls take."""

_PARTIES = (STUDENT, VECTORISED)
_FIRST_DRAW = 1_000_000
"""Beyond all that the careful stage draws."""

_DRAWS = 1_000
"""Most draws of one screen."""

_LOOPS = 15
"""Ratios of the loop's time to the reference's that are kept."""

_FIRST = 5
"""Rounds until the first screen knows how many calls fill a block, and as many that count."""

_LOOP_EACH = 8
"""One more is measured in each so many screens."""


@dataclass(frozen=True, slots=True)
class LoopTrial:
    """What came of timing a question's own loop.

    Attributes:
        outcome: Of its calls, beside their times.
        times: How many times as long as the reference it takes.
    """

    outcome: SetOutcome
    times: float


class Screener:
    """Screens functions of submissions, one after the other.

    Args:
        materials: Hold the reference.
        sandbox: Starts the student processes.
        seed: Of all drawn inputs.
    """

    def __init__(self, materials: Materials, sandbox: Sandbox, seed: int) -> None:
        self._materials = materials
        self._sandbox = sandbox
        self._seed = seed
        self._reference: ProcessSession | None = None
        self._known: dict[str, ReferenceCost] = {}

    def screen(self, subject: Subject) -> FunctionTiming | None:
        """Return a timing that settles what a function is worth, or None.

        One that failed tells of a doubt about a loop. Where speed is graded it is left to the
        careful stage, which has the machine for itself.
        """
        scale = scale_of(subject)
        graded = any(speed_tests(subject.planned.question.checks, on_device=False))
        timing = FunctionTiming(dims=timed_dims(subject.planned))
        try:
            # *Slow* takes two.
            for _ in range(2 if readable() else 0):
                further = self._further(subject, scale, timing)
                if further is None:
                    return None
                if further.failed or further.wrong or further.idle > MOST_IDLE:
                    return None if graded else further
                if votes(further.screens[-1], scale) is Vote.UNCLEAR:
                    # What was measured in a busy moment may be why: measure it anew next time.
                    self._known.pop(subject.planned.question.id, None)
                    return None
                timing = further
                if settled(timing.screens, scale) is not None:
                    return timing
        except (NotTimedError, InfrastructureError):
            # Whoever times it with care tells what is the matter.
            self.close()
        return None

    def trial(self, planned: PlannedQuestion, limits: Limits) -> LoopTrial:
        """Time a question's own loop as if it were a submission's function.

        Raises:
            InfrastructureError: The reference or its loop failed.
            NotTimedError: A clock could not be read, or the machine was too busy.
        """
        timed = planned.question.timed
        assert timed is not None, "only asked for questions that are timed"
        ours = self._materials.reference
        defined = names_in(ours[self._materials.assignment.file_of(planned.question)])
        entry = next(name for name in planned.question.names if name in defined)
        subject = Subject(planned, timed.loop, entry, ours, limits)
        with self._processes(subject) as sessions:
            blocks, known = self._blocks(subject, sessions, 0), ReferenceCost()
            known.measure(blocks)
            make_rounds(blocks, known, scale_of(subject), np.random.default_rng(self._seed))
            return LoopTrial(blocks.outcome, math.exp(known.loop))

    def close(self) -> None:
        """End the reference's process."""
        if self._reference is not None:
            self._reference.close()
            self._reference = None

    def _further(
        self, subject: Subject, scale: Credit, timing: FunctionTiming
    ) -> FunctionTiming | None:
        """Screen in one more process; None where that tells nothing."""
        number = len(timing.screens)
        with self._processes(subject) as sessions:
            failed = sessions[STUDENT].failed_load
            if failed is not None or sessions[VECTORISED].loaded is None:
                return None if failed is None else replace(timing, failed=failed)
            known = self._known.setdefault(subject.planned.question.id, ReferenceCost())
            blocks = self._blocks(subject, sessions, number)
            random = np.random.default_rng([self._seed, number])
            known.measure(blocks)
            screen = make_rounds(blocks, known, scale, random)
            made, outcome = (() if screen is None else (screen,)), blocks.outcome
            return replace(
                timing,
                screens=(*timing.screens, *made),
                outputs=timing.outputs + outcome.outputs,
                wrong=outcome.wrong,
                failed=outcome.failed,
                idle=max(timing.idle, blocks.idle),
            )

    def _blocks(
        self, subject: Subject, sessions: dict[str, ProcessSession], number: int
    ) -> ProcessorClock:
        job = job_of(self._materials, subject, self._seed, sessions[VECTORISED])
        return ProcessorClock(job, sessions, _FIRST_DRAW + number * _DRAWS)

    @contextmanager
    def _processes(self, subject: Subject) -> Iterator[dict[str, ProcessSession]]:
        """Have a fresh student process for the submission, and the reference's, on one core."""
        program = self._materials.program(subject.files)
        student = ProcessSession(self._sandbox, program, budget=AnswerBudget())
        if self._reference is None:
            ours = self._materials.program(self._materials.reference)
            self._reference = ProcessSession(self._sandbox, ours)
        try:
            core = own_core()
            for session in (student, self._reference):
                session.prepare(subject.process)
                if core is not None and session.pid is not None:
                    keep_on(session.pid, core)
            reference = self._reference
            yield {STUDENT: student, VECTORISED: reference, LOOP: reference}
        finally:
            student.close()


class ReferenceCost:
    """What is known of a question's reference on this machine.

    Attributes:
        calls: How many fill a block.
        request: Seconds that a request takes beside its calls.
    """

    def __init__(self) -> None:
        self.calls = 1
        self.request = 0.0
        self._of_loop = 1
        self._loops: deque[float] = deque(maxlen=_LOOPS)
        self._screens = 0

    @property
    def loop(self) -> float:
        """Log of t_loop / t_vectorised."""
        return median(self._loops)

    def measure(self, blocks: ProcessorClock) -> None:
        """Measure the reference and its loop: in the first screen, and then now and again."""
        if self._screens % _LOOP_EACH == 0:
            warm_up, rounds = (1, 2) if self._screens else (_FIRST, 2 * _FIRST)
            for number in range(rounds):
                blocks.calls[VECTORISED] = self.calls
                loop = self._measured(blocks, number)
                if number >= warm_up:
                    self._loops.append(loop)
        self._screens += 1
        blocks.calls[VECTORISED] = self.calls

    def learn(self, samples: Sequence[Sample], most: int) -> None:
        """Learn from the reference's blocks in a screen how many calls fill one."""
        # The least of them: neighbours only ever lengthen a block.
        call = min(per_call(sample, self.request) for sample in samples)
        self.calls = calls_for(_BLOCK, call, most)

    def _measured(self, blocks: ProcessorClock, number: int) -> float:
        makers = {VECTORISED: False, LONE[VECTORISED]: True}
        run = Run({
            name: (_made(blocks.party(VECTORISED, lone)(-1 - number)),)
            for name, lone in makers.items()
        })  # fmt: skip
        self.request = request_of(run)
        call = per_call(run.samples[VECTORISED][0], self.request)
        self.calls = calls_for(_BLOCK, call, blocks.most)
        calls = self._of_loop
        loop = per_call(Sample(calls, 0.0, calls * _made(blocks.alone(LOOP, calls))), self.request)
        # A loop that takes no longer than a request does would drown in what a request varies by.
        self._of_loop = calls_for(_BLOCK, loop, blocks.most)
        return math.log(loop / call)


_Made = TypeVar("_Made")


def _made(block: _Made | None) -> _Made:
    assert block is not None, "the reference's failure is raised"
    return block


def make_rounds(
    blocks: ProcessorClock, known: ReferenceCost, scale: Credit, random: np.random.Generator
) -> Screen | None:
    """Make rounds until they say something; None where a call failed or was wrong.

    Args:
        blocks: Makes the blocks, in a fresh student process of the submission's and in the
            reference's.
        known: Of the reference.
        scale: What which index earns.
        random: Draws the order of the blocks.

    Raises:
        InfrastructureError: The reference failed.
        NotTimedError: A clock could not be read, or the machine was too busy.
    """
    makers = {party: blocks.party(party) for party in _PARTIES}
    makers |= {LONE[party]: blocks.party(party, lone=True) for party in _PARTIES}
    samples: dict[str, tuple[Sample, ...]] = dict.fromkeys(makers, ())
    blocks.calls[STUDENT] = 1
    screen = None
    for number in range(WARM_UP + MOST_ROUNDS):
        for name in random.permutation(list(makers)):
            sample = makers[name](number)
            if sample is None:
                return None
            samples[name] += (sample,)
        if number < WARM_UP:
            # The least, as neighbours only ever lengthen a block.
            call = min(per_call(sample, known.request) for sample in samples[STUDENT])
            # Its results are compared with the reference's: it may not make more calls.
            blocks.calls[STUDENT] = calls_for(_BLOCK, call, known.calls)
            if number == WARM_UP - 1:
                samples = dict.fromkeys(makers, ())
            continue
        screen = Screen(Run(dict(samples)), known.loop)
        if votes(screen, scale) is not Vote.MORE:
            break
    known.learn(samples[VECTORISED], blocks.most)
    return screen


def scale_of(subject: Subject) -> Credit:
    """Return what which index earns; half-way, where speed is asked for a loop's sake alone."""
    tests = speed_tests(subject.planned.question.checks, on_device=False)
    return next((test.scale for _, test in tests), single(0.5))
