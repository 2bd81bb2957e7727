"""Timing by processor time: run blocks of calls, read each process's clock, compare.

What is timed takes microseconds, and a request as long as many calls. So a block is many calls in
one request, and each block is as long as ten milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from grader.checks.compare import bits_equal
from grader.checks.speed import same_result
from grader.errors import InfrastructureError
from grader.observation import Observation, Outcome
from grader.run.session import ProcessSession
from grader.run.timing.stopwatch import Job, NotTimedError, Round, TimingClock, size_of
from grader.speed_statistics.sampling import Party, Plan, Sample, calls_for, keep_on
from grader.speed_statistics.vectorisation import AGAIN, LONE, LOOP, STUDENT, VECTORISED
from grader.wire.frames import FrameSize
from grader.wire.messages import Call
from grader.wire.values import ITEMSIZE, Tensor, Value

_WARM = 3
"""Blocks made to find out how many calls fill one; they also warm up caches and allocators."""

_HOPELESS = 10
"""Times as slow as the loop reference: such a submission's sets are one round long."""

_MOST_CALLS = 2000
_MOST_BYTES = 2**25
"""Of inputs in one block."""

_PLAIN = 64
"""Of a value that is no tensor: that many are as much work to read."""


class ProcessorClock(TimingClock):
    """Times by processor time: blocks of calls, drawn together, sent as one request.

    Args:
        job: What is timed.
        sessions: Party → its student process, loaded; ``AGAIN`` shares that of ``VECTORISED``.
        first_draw: Number of the first draw: no two have inputs in common.
        core: Core that the student processes are kept on, if one could be chosen.

    Attributes:
        calls: Party → how many calls are in a block of its own.
    """

    def __init__(
        self,
        job: Job,
        sessions: Mapping[str, ProcessSession],
        first_draw: int,
        core: int | None = None,
    ) -> None:
        super().__init__(job, first_draw)
        self.calls: dict[str, int] = {}
        self._sessions = sessions
        self._core = core
        self._rounds: dict[bool, tuple[int, Round]] = {}
        self._answer = FrameSize()  # of the reference, to one call
        self._idle = self._busy = 0.0
        self._last: float | None = None

    @property
    def idle(self) -> float:
        """Processor time that the submission used between blocks, as a share of that in them."""
        return self._idle / self._busy if self._busy else 0.0

    @property
    def most(self) -> int:
        """Calls that a block may have."""
        total = sum(size_of(value, _PLAIN) for value in self.job.inputs.args)
        return max(1, min(_MOST_CALLS, _MOST_BYTES // max(total, 1)))

    def warm_up(self) -> Plan | None:
        """Find out how many calls fill a block of each party."""
        for session in dict.fromkeys(self._sessions.values()):
            if self._core is not None and session.pid is not None:
                keep_on(session.pid, self._core)
        per_call = {}
        for party in (VECTORISED, LOOP, STUDENT):
            seconds = self._fill(party)
            if seconds is None:
                return None
            per_call[party] = seconds
        self.calls[AGAIN] = self.calls[VECTORISED]
        # Its results are compared with the vectorised reference's: it may not make more calls.
        self.calls[STUDENT] = min(self.calls[STUDENT], self.calls[VECTORISED])
        if per_call[STUDENT] > _HOPELESS * per_call[LOOP]:
            return replace(self.job.plan, rounds=1, fewest=1)
        return self.job.plan

    def parties(self) -> dict[str, Party]:
        """Return what makes blocks of many calls, and of one."""
        many = {party: self.party(party) for party in (STUDENT, VECTORISED, AGAIN, LOOP)}
        return many | {name: self.party(party, lone=True) for party, name in LONE.items()}

    def _fill(self, party: str) -> float | None:
        """Find out how many calls fill a block; return the seconds that one takes."""
        calls, per_call = 1, 0.0
        for number in range(_WARM):
            seconds = self.alone(party, calls)
            if seconds is None:
                return None
            per_call = seconds
            calls = calls_for(self.job.plan.block, per_call, self.most)
            # The first call of a fresh process is slow by itself, and tells nothing.
            if number and per_call > self.job.plan.block:
                break
        self.calls[party] = calls
        return per_call

    def alone(self, party: str, calls: int) -> float | None:
        """Make a block on inputs of its own; return seconds a call, None where it came to nothing.

        Raises:
            InfrastructureError: The reference failed.
            NotTimedError: A clock could not be read, or the machine was too busy.
        """
        observation = self._block(party, calls, *self.drawn(calls))
        return None if observation is None else _cpu(observation) / calls

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
            observation = self._block(party, calls, args, kwargs)
            if observation is None:
                return None
            current.seen[party] = (calls, observation)
            # Every timed result is judged. Else fast wrong answers in timed blocks would earn the
            # points for speed.
            if STUDENT in current.seen and VECTORISED in current.seen and not self._right(current):
                return None
            return Sample(calls, observation.facts.wall_seconds, _cpu(observation))

        return block

    def _round(self, number: int, lone: bool) -> Round:
        """Return the inputs of a round; those of lone calls are in no block."""
        known, current = self._rounds.get(lone, (-1, None))
        if current is None or known != number:
            # New inputs a round, the same for all parties: nothing can be cached, and no party has
            # the easier numbers.
            current = Round(*self.drawn(1 if lone else self.calls[VECTORISED]))
            self._rounds[lone] = number, current
        return current

    def _block(
        self, party: str, calls: int, args: tuple[Value, ...], kwargs: dict[str, Value]
    ) -> Observation | None:
        session = self._sessions[party]
        before = session.cpu_used()
        call = Call(self.job.entries[party], args, kwargs, block=calls)
        session.likely = FrameSize(calls * self._answer.header, calls * self._answer.payload)
        observation = session.call(call, self.job.seconds)
        # The same machine in all blocks, or none: a block that was slowed down is not compared with
        # one that was not.
        if observation.facts.busy:
            raise NotTimedError("too_busy")
        if party == STUDENT:
            if self._last is not None and before is not None:
                # What it used since its last block: nothing was asked of it in that time.
                self._idle += before - self._last
            self._last = session.cpu_used()
            self._busy += observation.facts.cpu_seconds or 0.0
            if observation.outcome is not Outcome.COMPLETED:
                self.outcome.failed = observation
                return None
        elif observation.outcome is not Outcome.COMPLETED:
            raise InfrastructureError(
                f"the reference's {self.job.entries[party]} could not be timed: "
                f"{observation.outcome.value} {observation.detail}"
            )
        elif (size := observation.facts.reply) is not None:
            # Rounded up: a share of less than a byte must not become none at all.
            self._answer = FrameSize(-(-size.header // calls), -(-size.payload // calls))
        return observation

    def _right(self, current: Round) -> bool:
        """Compare the submission's results of a round; once, when both parties' are there."""
        calls, student = current.seen.pop(STUDENT)
        _, reference = current.seen[VECTORISED]
        self.outcome.outputs += calls
        if self._all_right(reference, student, calls):
            return True
        for number in range(calls):
            pair = item(reference, number), item(student, number)
            if not same_result(self.job.inputs, *pair, self.job.rule):
                self.outcome.wrong = pair
                return False
        return True

    def _all_right(self, reference: Observation, student: Observation, calls: int) -> bool:
        """Tell in one look whether all results of a block are right, where that can be."""
        expected, actual = rows(reference.claims.value, 0, calls), student.claims.value
        if bits_equal(expected, actual):
            return True
        # Judged entry by entry: together is as good as one by one.
        if not self.job.rule.entry_by_entry or not isinstance(expected, Tensor):
            return False
        ours = replace(reference, claims=replace(reference.claims, value=expected))
        return same_result(self.job.inputs, ours, student, self.job.rule)


def _cpu(seen: Observation) -> float:
    if not seen.facts.cpu_seconds:
        raise NotTimedError("no_reading")
    return seen.facts.cpu_seconds


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


def rows(value: Value, start: int, stop: int) -> Value:
    """Return the inputs, or results, of some calls out of those of all."""
    if isinstance(value, list):
        return value[start:stop]
    if not isinstance(value, Tensor):
        return value
    row = ITEMSIZE[value.dtype]
    for size in value.shape[1:]:
        row *= size
    data = memoryview(value.data)[start * row : stop * row]
    return replace(value, shape=(stop - start, *value.shape[1:]), data=data)
