"""One program in student processes of a sandbox: load it, call it, replace a process that died."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from grader.errors import InfrastructureError
from grader.observation import Claims, HostFacts, Observation
from grader.run.answer_budget import AnswerBudget, RequestPipeline, Sized
from grader.run.process_limits import (
    Deadline,
    Failures,
    HeldProcess,
    death,
    late,
    outcome_of,
    violation,
)
from grader.sandbox.host.processes import Exit, ProcessSpec, Sandbox, SandboxedProcess
from grader.speed_statistics.sampling import cpu_seconds, settle, spent
from grader.wire.frames import Caps, Closed, Connection, DeadlineExceeded, FrameSize
from grader.wire.messages import (
    Call,
    Load,
    Loaded,
    Ready,
    Reply,
    from_frame,
    holds_handle,
    to_frame,
)
from grader.wire.values import ProtocolError

AGAIN = 1.5
"""Limits that a call is given when it is made again. Neighbours share caches and the two halves of
a core with a process, and so lengthen its processor time as well."""

_START_SECONDS = 60.0
"""A student process that is not up by then is the machine's fault."""


class ScenarioPlayer(Protocol):
    """Plays the cases that have a scenario."""

    def play(self, actor: ProcessSession, call: Call, seconds: float) -> Observation:
        """Play one case."""

    def close(self) -> None:
        """End what was started."""


class ProcessSession:
    """Runs one program, in one student process after another.

    The student process before the last one is kept for when its spec is asked for again: to start
    one takes as long as dozens of calls.

    Args:
        sandbox: Starts the student processes.
        program: What to load into each; its virtual GPUs are those of the spec.
        player: Plays the cases that have a scenario.
        budget: How much it may answer; None for the reference, whose answers are measured.

    Attributes:
        likely: Size of the reference's answer to the next call, where that is known.
        starting: Seconds spent on starting processes and loading the program.
        counting: Seconds spent on calls that are only counted, starts among them left out.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        program: Load,
        player: ScenarioPlayer | None = None,
        budget: AnswerBudget | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._program = program
        self._player = player
        self._process: SandboxedProcess | None = None
        self._held: HeldProcess | None = None
        self.loaded: Loaded | None = None
        self._spec = ProcessSpec(program.module)
        self._failures = Failures()
        self._budget = budget
        self.likely: FrameSize | None = None
        self._answered = FrameSize()
        self.versions: dict[str, str] = {}
        self.output = b""
        self.starting = self.counting = 0.0
        self._pid: int | None = None
        self._first_process: int | None = None

    def prepare(self, spec: ProcessSpec) -> None:
        """Have a student process of a spec, with its module loaded; see ``failed_load``.

        Raises:
            InfrastructureError: No student process can be started.
        """
        spec = replace(spec, module=spec.module or self._program.module)
        if self._process is not None and self._spec == spec:
            return
        # In one statement: the one that was held is read before the running one takes its place.
        held, self._held = self._held, self._set_aside()
        self._spec = spec
        if held is not None and held.spec == spec:
            self._process, self.loaded = held.process, held.loaded
            self._first_process = held.process.pid
            return
        if held is not None:
            self._end(held.process)
        # It failed to load once, and would fail, and be waited for, for each question.
        if self.failed_load is not None:
            return
        begun = time.monotonic()
        answer = self._load(spec.import_seconds)
        # Once more with more time: a late import on a busy machine would else cost every question.
        if isinstance(answer, Observation) and answer.facts.busy:
            answer = self._load(AGAIN * spec.import_seconds)
        self.starting += time.monotonic() - begun
        if isinstance(answer, Observation):
            self._failures.note(spec, answer)
        else:
            self.loaded = answer

    def _set_aside(self) -> HeldProcess | None:
        """Keep the student process, if there is one, for when its spec is asked for again."""
        process, loaded, spec = self._process, self.loaded, self._spec
        # What others need is not kept from them: a GPU, a clock, the cores.
        scarce = spec.cuda or spec.timed or spec.processes
        if process is None or loaded is None or scarce:
            self.close()
            return None
        self._process = None
        return HeldProcess(process, loaded, spec)

    def _load(self, seconds: float) -> Loaded | Observation:
        """Start a process and load the program; return what it said, or how it died of it."""
        spec = self._spec
        self._process = self._sandbox.start(spec)
        try:
            ready = self._receive(_START_SECONDS, Ready)
        except (Closed, DeadlineExceeded, ProtocolError) as error:
            printed = self._process.output().decode("utf-8", "replace")[-500:]
            self.close()
            raise InfrastructureError(
                f"a student process did not start: {type(error).__name__} {error} {printed}"
            ) from error
        assert isinstance(ready, Ready)
        self.versions = ready.versions
        self._first_process = self._process.pid
        # Only a timed process is settled and read after each call: for the others that would cost a
        # wait a call.
        self._pid = self._first_process if spec.timed else None
        load = replace(
            self._program,
            module=spec.module,
            gpus=spec.virtual_gpus,
            gpu_memory_mb=spec.virtual_gpu_memory_mb,
        )
        answer = self.exchange(load, self.deadline(seconds), Loaded)
        if isinstance(answer, Observation):
            return answer
        assert isinstance(answer[0], Loaded)
        return answer[0]

    def deadline(self, seconds: float) -> Deadline:
        """Return a limit on the prepared student process, for one exchange or for several."""
        made = Deadline(seconds, self._first_process, self._spec.processes)
        if self._budget is not None:
            made.most_asleep = self._budget.sleep(seconds)
        return made

    def call_fairly(self, call: Call, seconds: float) -> Observation:
        """Make one call; once more, in a new process, if a busy machine may be why it was stopped.

        Only for calls that need nothing of those before them.

        Raises:
            InfrastructureError: No student process can be started.
        """
        observation = self.call(call, seconds)
        if not observation.facts.busy:
            return observation
        self.renew()
        return self.failed_load or self.call(call, AGAIN * seconds)

    def call(self, call: Call, seconds: float) -> Observation:
        """Make one call in the prepared student process; end it if it does not answer in time."""
        if call.scenario and self._player is not None:
            return self._player.play(self, call, seconds)
        (observation,) = self.call_each([(call, self.likely)], seconds)
        return observation

    def call_each(self, calls: Sequence[Sized], seconds: float) -> list[Observation]:
        """Make calls of the program's in the prepared student process, which gets them together.

        It works on one while the answer to the one before is read. Each has a limit of its own.

        Args:
            calls: What to call, and the size of the reference's answer where that is known.
            seconds: Limit of each.

        Returns:
            What came of them; the last one is the first that the student process did not survive.
        """
        # A fresh secret a call. The process cannot know the next one, so it cannot answer a
        # question before it was asked, nor with the answer to another.
        window = RequestPipeline([replace(call, token=secrets.token_hex(16)) for call, _ in calls])
        observations: list[Observation] = []
        for _, likely in calls:
            self.likely = likely
            self.begin()
            observations.append(self._next(window, seconds))
            if not self.alive:
                break
        return observations

    def calls_fairly(self, calls: Sequence[Sized], seconds: float) -> list[Observation]:
        """Do what ``call_each`` does, as fairly as ``call_fairly`` does it."""
        observations: list[Observation] = []
        while len(observations) < len(calls):
            observations += self.call_each(calls[len(observations) :], seconds)
            # Only the last one can have been stopped. Those before it have answered and are not
            # asked again.
            if observations[-1].facts.busy:
                self.renew()
                call, self.likely = calls[len(observations) - 1]
                observations[-1] = self.failed_load or self.call(call, AGAIN * seconds)
            if not self.alive:
                break
        return observations

    def _next(self, window: RequestPipeline, seconds: float) -> Observation:
        """Wait for the answer to the next call of several."""
        # Before the request: the clock can be read only while the process sleeps.
        began, used = time.monotonic(), self.cpu_used()

        def talk(connection: Connection, deadline: Deadline) -> Any:
            window.send(connection, deadline)
            return self.receive(connection, deadline, Reply)

        answer = self.converse(self.deadline(seconds), talk, sent=window.sent)
        if isinstance(answer, Observation):
            return answer
        reply, wall = answer
        computed = spent(used, self.cpu_used(), time.monotonic() - began)
        # Replies are matched by token, not by order: a submission that writes to the line itself
        # could else shift all answers by one.
        if reply.token != window.answered():
            return self.violation("an answer to another question", wall)
        # Handles mean something between stage and actor only. As an answer, one would name an
        # object that the host does not have.
        if holds_handle((reply.value, reply.args_after, *reply.probes.values())):
            return self.violation("a handle as an answer", wall)
        claims = Claims(reply.value, reply.args_after, reply.fault, reply.probes)
        outcome, detail = outcome_of(reply.fault)
        facts = HostFacts(wall, cpu_seconds=computed, reply=self.measured)
        return Observation(outcome, facts, claims, detail)

    @property
    def pid(self) -> int | None:
        """PID of a timed process, as the host sees it."""
        return self._pid

    def cpu_used(self) -> float | None:
        """Return the processor time that a timed process has used so far, in seconds.

        Waits for the student process to sleep first, which it does once it has sent its reply.
        """
        if self._pid is None:
            return None
        settle(self._pid)
        try:
            return cpu_seconds(self._pid)
        except OSError:
            return None

    @property
    def failed_load(self) -> Observation | None:
        """The failed load of what was last asked for, if it failed."""
        return self._failures.of(self._spec)

    @property
    def alive(self) -> bool:
        """Tell whether a student process is up."""
        return self._process is not None

    @property
    def process_pid(self) -> int:
        """PID of the student process, as the host sees it; 0 where that is unknown."""
        return (self._process.pid if self._process else None) or 0

    def begin(self) -> None:
        """Begin to measure what is answered to one call, in however many messages."""
        self._answered = FrameSize()

    @property
    def measured(self) -> FrameSize | None:
        """Size of all answers since ``begin``; None where answers are bounded instead."""
        return self._answered if self._budget is None else None

    @property
    def may_start_processes(self) -> bool:
        """Tell whether the program may start processes of its own."""
        return self._spec.processes > 0

    def renew(self) -> None:
        """Have a fresh student process, of the spec that was last asked for.

        Raises:
            InfrastructureError: No student process can be started.
        """
        self.close()
        self.prepare(self._spec)

    def finish(self) -> None:
        """End everything that was started."""
        self.close_all()
        if self._player is not None:
            self._player.close()

    def close_all(self) -> None:
        """End the student process, and the one that was set aside."""
        self.close()
        if self._held is not None:
            held, self._held = self._held, None
            self._end(held.process)

    def close(self) -> Exit:
        """End the student process, if there is one, and all that it started."""
        if self._process is None:
            return Exit()
        # Forgotten before it is ended: one that cannot be ended must not be called again.
        process, self._process, self._pid = self._process, None, None
        return self._end(process)

    def printed(self) -> bytes:
        """Return what processes printed so far; the one that was set aside is not among them."""
        return self.output + (self._process.output() if self._process else b"")

    def _end(self, process: SandboxedProcess) -> Exit:
        ended = process.end()
        # The last of it: what was printed at the end tells why a process died.
        self.output = (self.output + process.output())[-(2**20) :]
        return ended

    def _receive(self, seconds: float, *kinds: type) -> Any:
        assert self._process is not None
        return from_frame(self._process.connection.receive(time.monotonic() + seconds), *kinds)

    def exchange(
        self, message: Any, deadline: Deadline, *kinds: type
    ) -> Observation | tuple[Any, float]:
        """Send one request and wait for its reply: (reply, wall seconds), or what went wrong."""

        def talk(connection: Connection, deadline: Deadline) -> Any:
            connection.send(to_frame(message), deadline)
            return self.receive(connection, deadline, *kinds)

        return self.converse(deadline, talk)

    def converse(
        self, deadline: Deadline, talk: Callable[[Connection, Deadline], Any], sent: bool = False
    ) -> Observation | tuple[Any, float]:
        """Talk to the student process: (what ``talk`` returns, wall seconds), or what went wrong.

        Args:
            deadline: Until when; for this talk, or for several.
            talk: Gets the connection and the deadline.
            sent: The question was, with an earlier one: its answer may be there already.
        """
        assert self._process is not None
        connection = self._process.connection
        with deadline:
            before, asleep = deadline.wall, deadline.asleep
            try:
                if not sent and connection.has_unread():
                    # An answer made before the question is known, or the end of the line. None is
                    # read.
                    connection.caps = Caps(0, 0)
                    connection.receive(deadline)
                    raise ProtocolError("an answer that nobody had asked for")
                answer = talk(connection, deadline)
            except DeadlineExceeded:
                return late(deadline, self.close())
            except ProtocolError as error:
                return self.violation(str(error), deadline.wall)
            except Closed:
                return death(self.close(), deadline.wall)
            if self._budget is not None:
                self._budget.slept(deadline.asleep - asleep, deadline.limit)
            return answer, deadline.wall - before

    def receive(self, connection: Connection, deadline: Deadline, *kinds: type) -> Any:
        """Receive one message, as large as may still be answered.

        Args:
            connection: The student process's, or one of a process that it started.
            deadline: Until when.
            kinds: Of messages that may come.
        """
        if self._budget is not None:
            connection.caps = self._budget.caps(self.likely, self._answered)
            connection.reading = self._budget.reading
        before = connection.received
        frame = connection.receive(deadline)
        came = connection.received - before
        self._answered += came
        if self._budget is not None:
            self._budget.take(came)
        return from_frame(frame, *kinds)

    def violation(self, detail: str, wall: float) -> Observation:
        """End a student process that sent what it must not."""
        return violation(self.close(), wall, detail)
