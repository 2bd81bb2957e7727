"""Blocks of calls: inputs drawn for each, processor time read by the host, results compared.

The clock of a block runs from before the first byte of its inputs is sent until after the last byte
of its results has arrived. The inputs are drawn for that block alone, and every result is compared
with the reference's: what is fast has to be right as well, in that very call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from grader.checks.base import CaseInputs, Check
from grader.checks.speed import same_result
from grader.clock.sampling import STANDARD_PLAN, Plan, Run, Sample
from grader.clock.vectorisation import STUDENT, VECTORISED
from grader.errors import InfrastructureError
from grader.observation import Observation, Outcome
from grader.run.session import Session
from grader.run.stacked import Inputs, rows
from grader.wire.frames import FrameSize
from grader.wire.messages import Call
from grader.wire.values import Tensor, Value

_MOST_CALLS = 2000
_MOST_BYTES = 2**25
"""Of inputs in one block."""

_PLAIN = 64
"""Of a value that is no tensor: that many are as much work to read."""


class NotTimedError(Exception):
    """A block could not be timed, by nobody's fault. Its text is the id of a message."""


Draw = Callable[[int, int], Inputs]
"""Draws inputs, given the number of the draw and of calls: arguments with all calls' tensors."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is timed.

    Attributes:
        entries: Party → name of the function in its own guest.
        inputs: The case, and its inputs once: their sizes are those of every call.
        draw: Draws the inputs of a block.
        rule: That the values of every call must pass.
        seconds: Deadline of a block.
        plan: How much is timed.
        core: Core that the guests are kept on, if one could be chosen.
    """

    entries: Mapping[str, str]
    inputs: CaseInputs
    draw: Draw
    rule: Check
    seconds: float
    plan: Plan = STANDARD_PLAN
    core: int | None = None


@dataclass(slots=True)
class Outcomes:
    """What came of a set beside its times.

    Attributes:
        run: The blocks; None where a call of the hand-in failed or was wrong.
        outputs: Results that were compared.
        wrong: The reference's call and the hand-in's, for the first that differed.
        failed: A call of the hand-in that did not return.
        idle: Processor time that the hand-in used between its blocks, as a share of that in them.
    """

    run: Run | None = None
    outputs: int = 0
    wrong: tuple[Observation, Observation] | None = None
    failed: Observation | None = None
    idle: float = 0.0


@dataclass(slots=True)
class _Round:
    """The inputs of one round, and what came back."""

    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    seen: dict[str, tuple[int, Observation]] = field(default_factory=dict)


class Blocks:
    """Makes blocks in guests of the submission and the reference.

    Args:
        job: What is timed.
        sessions: Party → its guest, loaded.
        first_draw: Number of the first draw: no two have inputs in common.

    Attributes:
        calls: Party → how many calls are in a block of its own.
        outcomes: What came of them beside their times.
    """

    def __init__(self, job: Job, sessions: Mapping[str, Session], first_draw: int) -> None:
        self._job = job
        self._sessions = sessions
        self._draw_number = first_draw
        self._rounds: dict[bool, tuple[int, _Round]] = {}
        self._answer = FrameSize()  # of the reference, to one call
        self._idle = self._busy = 0.0
        self._last: float | None = None
        self.calls: dict[str, int] = {}
        self.outcomes = Outcomes()

    @property
    def idle(self) -> float:
        """Processor time that the submission used between blocks, as a share of that in them."""
        return self._idle / self._busy if self._busy else 0.0

    @property
    def most(self) -> int:
        """Calls that a block may have."""
        total = sum(size(value) for value in self._job.inputs.args)
        return max(1, min(_MOST_CALLS, _MOST_BYTES // max(total, 1)))

    def alone(self, party: str, calls: int) -> float | None:
        """Make a block on inputs of its own; return seconds a call, None where it came to nothing.

        Raises:
            InfrastructureError: The reference failed.
            NotTimedError: A clock could not be read, or the machine was too busy.
        """
        seen = self._block(party, calls, *self._drawn(calls))
        return None if seen is None else _cpu(seen) / calls

    def party(self, party: str, lone: bool = False) -> Callable[[int], Sample | None]:
        """Return what makes a party's block in the round of a number, and compares it.

        Args:
            party: Whose.
            lone: One call by itself.
        """

        def block(number: int) -> Sample | None:
            current = self._round(number, lone)
            calls = 1 if lone else self.calls[party]
            args = tuple(rows(item, 0, calls) for item in current.args)
            kwargs = {name: rows(item, 0, calls) for name, item in current.kwargs.items()}
            seen = self._block(party, calls, args, kwargs)
            if seen is None:
                return None
            current.seen[party] = (calls, seen)
            if STUDENT in current.seen and VECTORISED in current.seen and not self._right(current):
                return None
            return Sample(calls, seen.facts.wall_seconds, _cpu(seen))

        return block

    def _round(self, number: int, lone: bool) -> _Round:
        """Return the inputs of a round; those of lone calls are in no block."""
        known, current = self._rounds.get(lone, (-1, None))
        if current is None or known != number:
            current = _Round(*self._drawn(1 if lone else self.calls[VECTORISED]))
            self._rounds[lone] = number, current
        return current

    def _block(
        self, party: str, calls: int, args: tuple[Value, ...], kwargs: dict[str, Value]
    ) -> Observation | None:
        session = self._sessions[party]
        before = session.cpu_used()
        call = Call(self._job.entries[party], args, kwargs, block=calls)
        session.likely = FrameSize(calls * self._answer.header, calls * self._answer.payload)
        seen = session.call(call, self._job.seconds)
        if seen.facts.busy:
            raise NotTimedError("too_busy")
        if party == STUDENT:
            if self._last is not None and before is not None:
                self._idle += before - self._last
            self._last = session.cpu_used()
            self._busy += seen.facts.cpu_seconds or 0.0
            if seen.outcome is not Outcome.COMPLETED:
                self.outcomes.failed = seen
                return None
        elif seen.outcome is not Outcome.COMPLETED:
            raise InfrastructureError(
                f"the reference's {self._job.entries[party]} could not be timed: "
                f"{seen.outcome.value} {seen.detail}"
            )
        elif (size := seen.facts.reply) is not None:
            self._answer = FrameSize(-(-size.header // calls), -(-size.payload // calls))
        return seen

    def _right(self, current: _Round) -> bool:
        """Compare the hand-in's results of a round; once, when both parties' are there."""
        calls, student = current.seen.pop(STUDENT)
        _, reference = current.seen[VECTORISED]
        self.outcomes.outputs += calls
        if self._all_right(reference, student, calls):
            return True
        for number in range(calls):
            pair = item(reference, number), item(student, number)
            if not same_result(self._job.inputs, *pair, self._job.rule):
                self.outcomes.wrong = pair
                return False
        return True

    def _all_right(self, reference: Observation, student: Observation, calls: int) -> bool:
        """Tell in one look whether all results of a block are right, where that can be."""
        expected, found = rows(reference.claims.value, 0, calls), student.claims.value
        if alike(expected, found):
            return True
        # Judged entry by entry: together is as good as one by one.
        if not self._job.rule.entry_by_entry or not isinstance(expected, Tensor):
            return False
        ours = replace(reference, claims=replace(reference.claims, value=expected))
        return same_result(self._job.inputs, ours, student, self._job.rule)

    def _drawn(self, calls: int) -> Inputs:
        self._draw_number += 1
        return self._job.draw(self._draw_number, calls)


def _cpu(seen: Observation) -> float:
    if not seen.facts.cpu_seconds:
        raise NotTimedError("no_reading")
    return seen.facts.cpu_seconds


def size(value: Value) -> int:
    """Return the bytes of a value, about."""
    if isinstance(value, (list, tuple)):
        return sum(map(size, value))
    return len(memoryview(value.data)) if isinstance(value, Tensor) else _PLAIN


def alike(expected: Value, found: Value) -> bool:
    """Whether two values have the same bytes, as right code on whole numbers does."""
    if isinstance(expected, Tensor) and isinstance(found, Tensor):
        return (
            (expected.dtype, expected.shape) == (found.dtype, found.shape)
            and memoryview(expected.data) == memoryview(found.data)
        )  # fmt: skip
    if isinstance(expected, (list, tuple)) and type(expected) is type(found):
        assert isinstance(found, (list, tuple))
        return len(expected) == len(found) and all(map(alike, expected, found))
    return type(expected) is type(found) is int and expected == found


def item(seen: Observation, number: int) -> Observation:
    """Return one call of a block as an observation of its own."""
    value = seen.claims.value
    if isinstance(value, Tensor) and value.shape and number < value.shape[0]:
        row = rows(value, number, number + 1)
        assert isinstance(row, Tensor)
        value = replace(row, shape=row.shape[1:], data=bytes(row.data))
    elif isinstance(value, list) and number < len(value):
        value = value[number]
    claims = replace(seen.claims, value=value)
    return replace(seen, claims=claims)
