"""The host between stage and actor: it relays each message, and owns deadlines, budgets and blame.

Defends against: an actor that stalls, dies, answers another request, sends handles or files where
none belong, calls without end, or sends more than a case may; a stage that fails while the actor is
well. The first is the submission's outcome. The second is tried again with fresh processes, and if
it fails again the actor's values caused it: with the reference's values it does not happen.
Does not defend against: an actor whose values are untrue. That is the judge's business.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace

from grader.assignment.find import SCENARIO
from grader.assignment.types import Limits
from grader.observation import IN_READER, IN_STAGE, Claims, HostFacts, Observation, Outcome
from grader.run.answer_budget import AnswerBudget
from grader.run.materials import Materials
from grader.run.process_limits import Deadline, outcome_of, process_spec
from grader.run.session import ProcessSession
from grader.sandbox.host.processes import Sandbox, Tier
from grader.wire.frames import Connection, DeadlineExceeded, FrameSize
from grader.wire.messages import (
    EXCEPTIONS,
    Call,
    CallbackRequest,
    Fault,
    Load,
    Reply,
    Request,
    Response,
    holds_handle,
    to_frame,
)
from grader.wire.shared import Calls, adopt, check_paths
from grader.wire.values import ProtocolError

STAGE_SECONDS = 30.0
"""What a stage may take for one case, beside the time of the actor's work. With each failure it
halves for the cases that follow: however many, they cost a minute."""

_LEAST_SECONDS = 1.0
"""What it may take even so. Honest values take a fraction of that."""

MAX_MESSAGES = 20_000
"""The most that an actor may send in one case; for bytes, see ``grader.run.answer_budget``."""

Read = Callable[[Request, float, "FrameSize | None"], "Response | Observation"]

_WORDS = {
    Outcome.TIMED_OUT: ("TimeoutError", "working on it took too long"),
    Outcome.OUT_OF_MEMORY: ("MemoryError", "working on it took too much memory"),
}


def open_session(
    sandbox: Sandbox,
    materials: Materials,
    files: Mapping[str, bytes],
    budget: AnswerBudget | None = None,
) -> ProcessSession:
    """Return a session for a submission, with a stage where the assignment has scenarios.

    Args:
        sandbox: Starts the student processes.
        materials: The assignment and its files.
        files: The submission.
        budget: How much it may answer; None for the reference.
    """
    program = materials.program(files)
    if not materials.scenario:
        return ProcessSession(sandbox, program, budget=budget)
    if sandbox.isolation.tier is Tier.NONE:
        # Nobody is kept out: one process, which imports torch once.
        return ProcessSession(sandbox, replace(program, stage=materials.scenario), budget=budget)
    scenario = Load({}, SCENARIO, dict(materials.support), stage=materials.scenario)
    stage = ScenarioRelay(sandbox, scenario, materials.assignment.limits, budget)
    return ProcessSession(sandbox, program, stage, budget)


class ScenarioRelay:
    """Plays cases: one process with a scenario, for all questions of one submission.

    Args:
        sandbox: Starts the student processes.
        program: The scenario.
        limits: What the stage may use.
        budget: How much the submission may answer, and whoever reads its files.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        program: Load,
        limits: Limits,
        budget: AnswerBudget | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._program = program
        self._spec = process_spec(limits)
        self._budget = budget
        self._seconds = STAGE_SECONDS
        self._session = ProcessSession(sandbox, program)
        self._reader = ProcessSession(sandbox, program, budget=budget)

    def play(self, actor: ProcessSession, call: Call, seconds: float) -> Observation:
        """Play one case.

        Args:
            actor: Holds the submission; prepared.
            call: The scenario and its arguments.
            seconds: What the actor may take for all of it.

        Raises:
            InfrastructureError: No student process can be started.
        """
        try:
            return self._played(actor, call, seconds)
        except _StageFailedError:
            # Maybe the machine's doing. Neither side goes on from where the other one was lost.
            self._fail(actor)
            actor.renew()
        if actor.failed_load is not None:
            return actor.failed_load
        try:
            return self._played(actor, call, seconds)
        except _StageFailedError as error:
            self._fail(actor)
            # The case was played again already.
            return _unusable(replace(error.seen, facts=replace(error.seen.facts, busy=False)))

    def _fail(self, actor: ProcessSession) -> None:
        self.close()
        actor.close()
        # Halved: values on which every stage hangs would else cost a class a limit for each case.
        self._seconds = max(_LEAST_SECONDS, self._seconds / 2)

    def close(self) -> None:
        """End the processes of the stage."""
        self._session.close()
        self._reader.close()

    def _played(self, actor: ProcessSession, call: Call, seconds: float) -> Observation:
        self._session.prepare(self._spec)
        broken = self._session.failed_load
        if broken is not None:
            raise _StageFailedError(broken)
        if self._session.loaded is not None and self._session.loaded.fault is not None:
            return Observation(Outcome.RAISED, claims=Claims(fault=self._session.loaded.fault))
        game = ScenarioCase((self._session, self._seconds), (actor, seconds), self._read)
        try:
            observation = game.play(call)
        finally:
            game.close()
        if not game.over:
            # The scenario still waits for an answer that will not come.
            self.close()
        return observation

    def _read(
        self, ask: Request, seconds: float, likely: FrameSize | None
    ) -> Response | Observation:
        """Have a function of the scenario's file called in a process for it alone."""
        reader = self._reader
        # The file was part of the answer.
        reader.likely = likely
        reader.prepare(self._spec)
        if reader.failed_load is not None:
            return reader.failed_load
        reader.begin()
        answer = reader.exchange(ask, reader.deadline(seconds), Response)
        if self._sandbox.isolation.tier is not Tier.FULL:
            # No process may be started there, so each file takes a sandboxed process of its own.
            reader.close()
        return answer if isinstance(answer, Observation) else answer[0]


class _StageFailedError(Exception):
    """The stage died, stalled or made no sense."""

    def __init__(self, seen: Observation) -> None:
        super().__init__(seen.detail)
        self.seen = seen


class ScenarioCase:
    """One case, between a stage and an actor.

    Args:
        stage: Holds the scenario; and what it may take, in seconds.
        actor: Holds the submission; and what it may take, in seconds.
        read: Calls a function of the scenario's file in a sandboxed process for it alone.
    """

    def __init__(
        self, stage: tuple[ProcessSession, float], actor: tuple[ProcessSession, float], read: Read
    ) -> None:
        self.over = False
        self._stage, seconds = stage
        self._stages = self._stage.deadline(seconds)
        self._actor, self._to_read = actor
        self._actors = self._actor.deadline(self._to_read)
        self._read = read
        self._case = secrets.token_hex(16)
        self._messages = 0
        self._calls: Calls | None = None
        self._actor.begin()

    def play(self, call: Call) -> Observation:
        """Relay messages until the scenario returned, or the actor came to an end."""
        token = secrets.token_hex(16)
        message = self._to_stage(replace(call, token=token), Request, Reply)
        while isinstance(message, Request):
            reads = message.action == "read"
            did = self._parsed(message) if reads else self._acted(message)
            if isinstance(did, Observation):
                return did
            message = self._to_stage(did, Request, Reply)
        assert isinstance(message, Reply)
        if message.token != token:
            # The stage works on values of the submission and may have been taken over by them. Its
            # reply needs the token as well.
            raise _StageFailedError(Observation(Outcome.PROTOCOL_VIOLATION))
        self.over = True
        return self._observation(message)

    def close(self) -> None:
        """Hang up on the processes that called."""
        if self._calls is not None:
            self._calls.close()

    def _to_stage(
        self, message: Call | Response | CallbackRequest, *kinds: type
    ) -> Request | Reply | Response:
        answer = self._stage.exchange(message, self._stages, *kinds)
        if isinstance(answer, Observation):
            raise _StageFailedError(answer)
        request: Request | Reply | Response = answer[0]
        return request

    def _acted(self, ask: Request) -> Response | Observation:
        """Have the actor do something; the stage answers its calls meanwhile."""
        # The host draws token and case, not the stage: neither side can answer in the place of the
        # other.
        request = replace(ask, case=self._case, token=secrets.token_hex(16))
        answer = self._actor.converse(
            self._actors, lambda connection, end: self._talk(connection, end, request)
        )
        if isinstance(answer, Observation):
            return answer
        did: Response = answer[0]
        return did

    def _talk(self, connection: Connection, end: Deadline, request: Request) -> Response:
        if request.waits_for and self._actor.may_start_processes and self._calls is None:
            self._calls = self._listen(connection, end)
        calls = self._calls or Calls()
        calls.gather(request.waits_for)
        connection.send(to_frame(request), end)
        while calls.wait(connection.fileno(), end):
            for call in calls.released():
                # Before the stage sees it: the scenario may rely on every message that reaches it.
                self._check(call.back, request.folders)
                call.answer(self._answered(call.back), end)
            # The wait may have ended for a call of another process: to receive now would block.
            if not connection.has_unread():
                continue
            message = self._actor.receive(connection, end, Response, CallbackRequest)
            self._check(message, request.folders)
            # A thread that an earlier request left behind may still be sending.
            if message.token != request.token:
                raise ProtocolError("an answer to another request")
            if isinstance(message, Response):
                return message
            calls.release(message.callback)
            # Not the process's own word: the kernel knows who is at the other end of this
            # connection.
            did = self._answered(replace(message, caller=self._actor.process_pid))
            connection.send(to_frame(replace(did, token=request.token)), end)
        raise DeadlineExceeded

    def _listen(self, connection: Connection, end: Deadline) -> Calls:
        """Have the actor make the socket to which its processes connect."""
        ask = Request("listen", case=self._case, token=secrets.token_hex(16))
        connection.send(to_frame(ask), end)
        listener = adopt(connection.receive_descriptor(end))
        try:
            if self._actor.receive(connection, end, Response).token != ask.token:
                raise ProtocolError("an answer to another request")
        except BaseException:
            listener.close()
            raise
        return Calls(
            listener, lambda caller, end: self._actor.receive(caller, end, CallbackRequest)
        )

    def _answered(self, back: CallbackRequest) -> Response:
        """Return the stage's answer to a call."""
        # The stage's own work is not the actor's time.
        with self._actors.resting():
            did = self._to_stage(back, Response)
        assert isinstance(did, Response)
        return did

    def _check(self, message: Response | CallbackRequest, folders: Mapping[str, bool]) -> None:
        if problem := self._problem(message, folders):
            raise ProtocolError(problem)

    def _problem(self, message: Response | CallbackRequest, folders: Mapping[str, bool]) -> str:
        """Return what is wrong with a message from the actor, or an empty string."""
        self._messages += 1
        if self._messages > MAX_MESSAGES:
            return f"more than {MAX_MESSAGES} messages in one case"
        if isinstance(message, CallbackRequest):
            # Numbers are the stage's to hand out: from the actor, one could name another object.
            held = holds_handle([*message.args, *message.kwargs.values()])
            return "a handle among arguments" if held else ""
        if holds_handle(message.value):
            return "a handle as an answer"
        # The kind becomes a type in the stage. From a list, or a submission could choose what is
        # raised in the scenario.
        if message.fault is not None and message.kind not in EXCEPTIONS:
            return "an exception that is none"
        try:
            check_paths(message.files)
        except ProtocolError as error:
            return str(error)
        other = [path for path in message.files if not folders.get(path.partition("/")[0])]
        return f"a file that nobody asked for: {other[0][:80]!r}" if other else ""

    def _parsed(self, ask: Request) -> Response | Observation:
        answer = self._read(ask, self._to_read, self._actor.likely)
        if isinstance(answer, Response):
            return answer
        # Further files of this question are not tried: one endless file must not cost a class its
        # afternoon.
        self._actor.close()
        unread = _unusable(answer)
        if unread.outcome is Outcome.SANDBOX_FAILED:
            return unread
        return replace(unread, detail=IN_READER)

    def _observation(self, reply: Reply) -> Observation:
        facts = HostFacts(self._actors.wall, reply=self._actor.measured)
        claims = Claims(reply.value, reply.args_after, reply.fault)
        if reply.fault is None:
            return Observation(Outcome.COMPLETED, facts, claims)
        if "remote" in reply.probes:
            outcome, detail = outcome_of(reply.fault)
            return Observation(outcome, facts, claims, detail)
        detail = IN_READER if "unread" in reply.probes else IN_STAGE
        return Observation(Outcome.RAISED, facts, claims, detail)


def _unusable(seen: Observation) -> Observation:
    """Return the observation of values on which a stage or a reader came to an end."""
    if seen.outcome is Outcome.SANDBOX_FAILED:
        return seen
    kind, text = _WORDS.get(seen.outcome, ("RuntimeError", "the process that worked on it ended"))
    return Observation(Outcome.RAISED, seen.facts, Claims(fault=Fault(kind, text)), IN_STAGE)
