"""Timing a hand-in's function: sets of fresh processes, until its worth is decided.

Timed runs take place one at a time on a machine, and on one core.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from grader.assignment.types import Limits, Question, TimingSettings
from grader.checks.base import Check
from grader.checks.speed import speed_tests, tolerance
from grader.clock.credit import STANDARD_RULE as RULE
from grader.clock.credit import Decision
from grader.clock.sampling import STANDARD_PLAN, Plan, Run, exclusive, quiet_core, readable
from grader.clock.vectorisation import AGAIN, LOOP, STUDENT, VECTORISED, pace_of, weigh
from grader.errors import InfrastructureError
from grader.observation import Timing
from grader.run.allowance import Allowance
from grader.run.blocks import Job, NotTimedError
from grader.run.draw import DrawKey
from grader.run.materials import Materials, Program
from grader.run.plan import PlannedCase, PlannedQuestion
from grader.run.session import Session
from grader.run.stacked import Stack
from grader.run.stopwatch import Stopwatch
from grader.sandbox.host.guests import GuestNeeds, Sandbox

_SECONDS = 20.0
"""Wall time that a question's sets may take, starts left out, before no further one begins. Three
take three seconds; a busy machine, or a hand-in near its limit, needs more of them, and longer."""

_FIRST_DRAW = 10_000
"""Beyond all repeats of a case: timed calls share no inputs with those that are graded."""

_DRAWS = 1_000
"""Most draws in a set of processes."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is timed: a question's function in a hand-in.

    Attributes:
        planned: The question.
        entry: Name of the function in the hand-in.
        files: The hand-in.
        limits: Of the question.
    """

    planned: PlannedQuestion
    entry: str
    files: Mapping[str, bytes]
    limits: Limits


class Timer:
    """Times functions of hand-ins against the reference.

    Args:
        materials: Hold the reference.
        sandbox: Starts the guests.
        seed: Of all drawn inputs.
        plan: How much is timed in a set of processes.
        now: A clock, in seconds.
    """

    def __init__(
        self,
        materials: Materials,
        sandbox: Sandbox,
        seed: int,
        plan: Plan = STANDARD_PLAN,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._materials = materials
        self._sandbox = sandbox
        self._seed = seed
        self._plan = plan
        self._now = now

    def time(self, subject: Subject) -> Timing:
        """Time a function until what it is worth is decided, or cannot be."""
        if not readable():
            detail = "this system does not let the grader read a process's own clock"
            return Timing(skipped="no_clock", detail=detail)
        timing = Timing(dims=timed_dims(subject.planned))
        spent = 0.0
        try:
            with exclusive():
                while self._undecided(subject, timing.runs):
                    if len(timing.runs) >= RULE.fewest and spent > _SECONDS:
                        break
                    timing, seconds = self._further(subject, timing)
                    spent += seconds
                    if timing.wrong or timing.failed:
                        break
        except NotTimedError as error:
            return Timing(skipped=str(error))
        except InfrastructureError as error:
            return Timing(skipped="timing_failed", detail=str(error))
        return timing

    def _undecided(self, subject: Subject, runs: tuple[Run, ...]) -> bool:
        tests = speed_tests(subject.planned.question.checks, on_device=False)
        scales = [test.scale for _, test in tests]
        if len(runs) >= RULE.most:
            return False
        try:
            pace = pace_of(runs)
            given = [weigh(pace, scale) for scale in scales]
        except ValueError:
            return False
        return any(item.decision is Decision.MORE for item in given)

    def _further(self, subject: Subject, timing: Timing) -> tuple[Timing, float]:
        """Time one more set; return everything so far, and the seconds that it took."""
        number = len(timing.runs)
        with self._guests(subject) as sessions:
            failed = sessions[STUDENT].failed_load
            if failed is not None:
                return replace(timing, failed=failed), 0.0
            random = np.random.default_rng([self._seed, number])
            job = replace(
                job_of(self._materials, subject, self._seed, sessions[VECTORISED]),
                plan=self._plan, core=quiet_core(),
            )  # fmt: skip
            first = _FIRST_DRAW + number * _DRAWS
            start = self._now()
            done = Stopwatch(job, sessions, random, first).measure()
            seconds = self._now() - start
        further = replace(
            timing,
            runs=timing.runs if done.run is None else (*timing.runs, done.run),
            outputs=timing.outputs + done.outputs,
            wrong=done.wrong,
            failed=done.failed,
            idle=max(timing.idle, done.idle),
        )
        return further, seconds

    @contextmanager
    def _guests(self, subject: Subject) -> Iterator[dict[str, Session]]:
        """Have a fresh guest for the hand-in and for each of the reference's two ways."""
        theirs = self._materials.program(subject.files)
        ours = self._materials.program(self._materials.reference)
        programs: dict[str, Program] = {STUDENT: theirs, VECTORISED: ours, LOOP: ours}
        bounds = {STUDENT: Allowance()}
        sessions = {
            party: Session(self._sandbox, item, allowance=bounds.get(party))
            for party, item in programs.items()
        }
        try:
            for party, session in sessions.items():
                session.prepare(subject.limits, GuestNeeds(timed=True))
                if party != STUDENT and session.loaded is None:
                    raise InfrastructureError("the reference could not be loaded to be timed")
            yield {**sessions, AGAIN: sessions[VECTORISED]}
        finally:
            for session in sessions.values():
                session.close()


def job_of(materials: Materials, subject: Subject, seed: int, session: Session) -> Job:
    """Return what is timed of a question.

    Args:
        materials: Hold the reference.
        subject: The submission's function.
        seed: Of all drawn inputs.
        session: The reference's guest.
    """
    timed, case = _timed(subject.planned), timed_case(subject.planned)
    question, assignment = subject.planned.question, materials.assignment
    defined = session.loaded.names if session.loaded else ()
    reference = next(name for name in question.names if name in defined)
    stack = Stack(case, timed.dims, DrawKey(seed, assignment.id, question.id), session)
    entries = {STUDENT: subject.entry, VECTORISED: reference, AGAIN: reference, LOOP: timed.loop}
    return Job(entries, stack.inputs(0), stack.draw, _rule(question), subject.limits.seconds)


def timed_dims(planned: PlannedQuestion) -> dict[str, int]:
    """Return the sizes that a question is timed at."""
    return {**timed_case(planned).inputs.dims, **_timed(planned).dims}


def _rule(question: Question) -> Check:
    """Return the rule that the values of timed calls must pass."""
    timed = question.timed
    assert timed is not None, "only asked for questions that are timed"
    named = next((check for check in question.checks if check.id == timed.values), None)
    return named or tolerance(timed.rtol, timed.atol)


def timed_case(planned: PlannedQuestion) -> PlannedCase:
    """Return the case whose sizes a question is timed at."""
    wanted = _timed(planned).case
    return next(case for case in planned.cases if case.case.id == wanted)


def _timed(planned: PlannedQuestion) -> TimingSettings:
    timed = planned.question.timed
    assert timed is not None, "only asked for questions that are timed"
    return timed
