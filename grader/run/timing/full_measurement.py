"""The careful stage: a submission's function timed in sets of fresh processes on one core.

Timed runs take place one at a time on a machine. The inputs of a block hold those of all its calls:
each tensor one after the other along a new first axis; what is no tensor, or has another shape in
each call, is a list with one item a call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from grader.assignment.arguments import Argument, RandomTensor
from grader.assignment.types import Case, Question, TimingSettings
from grader.checks.base import CaseInputs, Check
from grader.checks.speed import speed_tests, tolerance
from grader.errors import InfrastructureError
from grader.observation import FunctionTiming
from grader.run.answer_budget import AnswerBudget
from grader.run.materials import Materials
from grader.run.plan import DrawKey, Drawn, PlannedCase, PlannedQuestion, draw_case
from grader.run.session import ProcessSession
from grader.run.timing.processor import ProcessorClock
from grader.run.timing.stopwatch import (
    Inputs,
    Job,
    NotTimedError,
    Stopwatch,
    Subject,
    time_until,
    with_set,
)
from grader.sandbox.host.processes import Sandbox
from grader.speed_statistics.credit import STANDARD_RULE, Decision
from grader.speed_statistics.sampling import STANDARD_PLAN, Plan, exclusive, quiet_core, readable
from grader.speed_statistics.vectorisation import AGAIN, LOOP, STUDENT, VECTORISED, pace_of, weigh
from grader.wire.messages import Call, Load
from grader.wire.values import Tensor, Value

_SECONDS = 20.0
"""Wall time that a question's sets may take, starts left out, before no further one begins. Three
take three seconds; a busy machine, or a submission near its limit, needs more, and longer."""

_FIRST_DRAW = 10_000
"""Beyond all repeats of a case: timed calls share no inputs with those that are graded."""

_DRAWS = 1_000
"""Most draws in a set of processes."""


class FullTimer:
    """Times functions of submissions against the reference.

    Args:
        materials: Hold the reference.
        sandbox: Starts the student processes.
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

    def time(self, subject: Subject) -> FunctionTiming:
        """Time a function until what it is worth is decided, or cannot be."""
        if not readable():
            detail = "this system does not let the grader read a process's own clock"
            return FunctionTiming(skipped="no_clock", detail=detail)
        spent = 0.0

        def decided(timing: FunctionTiming) -> bool:
            enough = len(timing.runs) >= STANDARD_RULE.fewest and spent > _SECONDS
            return enough or not self._undecided(subject, timing)

        def further(timing: FunctionTiming) -> FunctionTiming:
            nonlocal spent
            timing, seconds = self._further(subject, timing)
            spent += seconds
            return timing

        try:
            # One timed run at a time on this machine: two that share a memory bus slow each other,
            # and not evenly.
            with exclusive():
                return time_until(
                    decided, further, FunctionTiming(dims=timed_dims(subject.planned))
                )
        except NotTimedError as error:
            return FunctionTiming(skipped=str(error))
        except InfrastructureError as error:
            return FunctionTiming(skipped="timing_failed", detail=str(error))

    def _undecided(self, subject: Subject, timing: FunctionTiming) -> bool:
        if len(timing.runs) >= STANDARD_RULE.most:
            return False
        tests = speed_tests(subject.planned.question.checks, on_device=False)
        try:
            pace = pace_of(timing.runs)
            given = [weigh(pace, test.scale) for _, test in tests]
        except ValueError:
            return False
        return any(item.decision is Decision.MORE for item in given)

    def _further(self, subject: Subject, timing: FunctionTiming) -> tuple[FunctionTiming, float]:
        """Time one more set; return everything so far, and the seconds that it took."""
        number = len(timing.runs)
        with self._processes(subject) as sessions:
            failed = sessions[STUDENT].failed_load
            if failed is not None:
                return replace(timing, failed=failed), 0.0
            job = job_of(self._materials, subject, self._seed, sessions[VECTORISED])
            job = replace(job, plan=self._plan)
            # Each set has draws of its own: an answer that was kept from an earlier set fits no
            # later one.
            first = _FIRST_DRAW + number * _DRAWS
            clock = ProcessorClock(job, sessions, first, quiet_core())
            start = self._now()
            # From seed and set: every set has an order of its own, and a run can be repeated.
            random = np.random.default_rng([self._seed, number])
            done = Stopwatch(clock, random).measure()
            return with_set(timing, done), self._now() - start

    @contextmanager
    def _processes(self, subject: Subject) -> Iterator[dict[str, ProcessSession]]:
        """Start a fresh process for the submission and for each of the reference's two ways."""
        theirs = self._materials.program(subject.files)
        ours = self._materials.program(self._materials.reference)
        programs: dict[str, Load] = {STUDENT: theirs, VECTORISED: ours, LOOP: ours}
        # The submission's answers alone are bounded: the reference is ours, and has to set the
        # scale.
        bounds = {STUDENT: AnswerBudget()}
        sessions = {
            party: ProcessSession(self._sandbox, item, budget=bounds.get(party))
            for party, item in programs.items()
        }
        try:
            for party, session in sessions.items():
                session.prepare(subject.process)
                if party != STUDENT and session.loaded is None:
                    raise InfrastructureError("the reference could not be loaded to be timed")
            yield {**sessions, AGAIN: sessions[VECTORISED]}
        finally:
            for session in sessions.values():
                session.close()


def job_of(materials: Materials, subject: Subject, seed: int, session: ProcessSession) -> Job:
    """Return what is timed of a question.

    Args:
        materials: Hold the reference.
        subject: The submission's function.
        seed: Of all drawn inputs.
        session: The reference's process.
    """
    timed, case = _timed(subject.planned), timed_case(subject.planned)
    question, assignment = subject.planned.question, materials.assignment
    reference = subject.reference_entry
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


_GENERATOR_SECONDS = 10.0
"""For all calls of a block."""


@dataclass(frozen=True, slots=True)
class Stack:
    """Draws the inputs of blocks of one case.

    Attributes:
        planned: The case.
        dims: Sizes that replace its own.
        key: What the draws depend on.
        session: The reference's process, for a case with a generator.
    """

    planned: PlannedCase
    dims: Mapping[str, int]
    key: DrawKey
    session: ProcessSession

    def draw(self, number: int, calls: int) -> Inputs:
        """Draw the inputs of a block.

        Args:
            number: Of the draw; no two have inputs in common.
            calls: How many are in the block.

        Raises:
            InfrastructureError: The case's generator failed.
        """
        case = self._case(calls)
        drawn = draw_case(case, replace(self.key, repeat=number))
        if case.generate is None:
            return drawn.args, drawn.kwargs
        return self._generated(case.generate, drawn, calls), {}

    def inputs(self, number: int) -> CaseInputs:
        """Return the inputs of one call, for messages and sizes."""
        args, _ = self.draw(number, 1)
        dims = {**self.planned.inputs.dims, **self.dims}
        return replace(self.planned.inputs, args=tuple(map(_first, args)), dims=dims)

    def _case(self, calls: int) -> Case:
        """Return a case of these sizes whose tensors hold those of several calls."""
        case = self.planned.case
        groups = {
            group: {name: _taller(item, calls) for name, item in getattr(case, group).items()}
            for group in ("args", "kwargs")
        }
        dims = {**self.planned.inputs.dims, **self.dims}
        return case.model_copy(update={"dims": dims, **groups})

    def _generated(self, function: str, drawn: Drawn, calls: int) -> tuple[Value, ...]:
        assert drawn.seed is not None
        # One request for all calls: a round trip for each would take longer than the calls.
        # numpy takes no seed of more than 32 bits.
        seeds: list[Value] = [(drawn.seed + number) % 2**32 for number in range(calls)]
        request = Call(function, kwargs={"seed": seeds, **drawn.dims}, block=calls)
        rows = self.session.call(request, _GENERATOR_SECONDS).claims.value
        if not isinstance(rows, list) or not all(isinstance(row, tuple) for row in rows):
            raise InfrastructureError(f"the generator “{function}” failed while a block was drawn")
        return tuple(_joined(column) for column in zip(*rows, strict=True))


def _first(value: Value) -> Value:
    if isinstance(value, list):
        return value[0]
    return replace(value, shape=value.shape[1:]) if isinstance(value, Tensor) else value


def _joined(column: Sequence[Value]) -> Value:
    """Return one argument of all calls: a tensor where all are alike, else a list."""
    first = column[0]
    same = [
        item
        for item in column
        if isinstance(item, Tensor)
        and isinstance(first, Tensor)
        and (item.dtype, item.shape) == (first.dtype, first.shape)
    ]
    if len(same) < len(column):
        return list(column)
    assert isinstance(first, Tensor)
    data = b"".join(item.data for item in same)
    return Tensor(first.dtype, (len(column), *first.shape), data)


def _taller(argument: Argument, calls: int) -> Argument:
    if not isinstance(argument, RandomTensor):
        return argument
    shape = getattr(argument, argument.form)
    return argument.model_copy(update={argument.form: (calls, *shape)})
