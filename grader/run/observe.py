"""Running a plan: every case of every question, observed; a death costs its case, two the rest.

All visible cases of all questions run, and are counted, before the first hidden one. What a
submission says about a visible case is shown to its author in full: were hidden inputs known to it
by then, it could tell.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Union

from grader.checks.base import Probe
from grader.observation import Observation, Outcome
from grader.run.answer_budget import Sized
from grader.run.plan import CountedCall, PlannedCase, PlannedQuestion, checks_on
from grader.run.session import ProcessSession
from grader.wire.frames import FrameSize
from grader.wire.messages import ALONE, LOG, Loaded

_COUNTING_IS_SLOW = 3
"""Times a question's limit that a counted call may take."""

_DEATHS = 2
"""Processes that a question may bring down. One more for each case would let endless loops cost a
class its afternoon; one alone would cost the cases that are right."""

_NOT_RUN = Observation(Outcome.NOT_RUN, detail=f"{_DEATHS} earlier cases had to be stopped")


Progress = Callable[[str], None]
"""Called with the id of each question as it begins."""


@dataclass(slots=True)
class PhaseTimes:
    """Wall time of one grading, by phase and by question, in seconds."""

    start: float = field(default_factory=time.monotonic)
    phases: dict[str, float] = field(default_factory=dict)
    questions: dict[str, float] = field(default_factory=dict)

    def lap(self, phase: str, /, **parts: float) -> None:
        """End a phase that began with the end of the one before.

        Args:
            phase: Its name.
            parts: Phases that were part of it, with their seconds: it gets what is left.
        """
        spent = sum(self.phases.values())
        self.phases |= {name: round(seconds, 4) for name, seconds in parts.items()}
        rest = time.monotonic() - self.start - spent - sum(parts.values())
        self.phases[phase] = round(max(0.0, rest), 4)


@dataclass(frozen=True, slots=True)
class Mended:
    """A function with one small change, or two, after which its results are right.

    Or all are those of a known mistake with a price.

    Attributes:
        line: Where the change is, in the student's file, from 1.
        share: Of the points that its results lost, and the rules on them: what it earns.
        run: What came of it.
        earns: What the mistake that is left earns of that; 0 where none is left.
        voids: Checks that mean nothing where that mistake is made.
        changes: How many places they are in.
        others: Something else is wrong yet, that this change has nothing to do with.
        start_of: The function that begins with a new line; empty where the change is in a line.
    """

    line: int
    share: float
    run: QuestionRun
    earns: float = 0.0
    voids: tuple[str, ...] = ()
    changes: int = 1
    others: bool = False
    start_of: str = ""


@dataclass(frozen=True, slots=True)
class QuestionRun:
    """What came of one question.

    Attributes:
        entry: The name under which the entry point was found, or None.
        loaded: What the student process said about the import, or None if it died of it.
        failed_load: How it died.
        observations: Case key → observation. Empty when nothing could be called.
        seconds: Wall time of the question.
        mended: The same with a slip mended, where that was tried and makes it right.
    """

    entry: str | None
    loaded: Loaded | None
    failed_load: Observation | None
    observations: dict[str, Observation] = field(default_factory=dict)
    seconds: float = 0.0
    mended: Mended | None = None


@dataclass(frozen=True, slots=True)
class QuestionStarted:
    """A question begins.

    Attributes:
        id: The question's.
    """

    id: str


@dataclass(frozen=True, slots=True)
class QuestionObserved:
    """All of a question's cases have run.

    Attributes:
        id: The question's.
        run: What came of them.
        printed: What the visible ones printed, where somebody waits for each question.
    """

    id: str
    run: QuestionRun
    printed: str = ""


Event = Union[QuestionStarted, QuestionObserved]


NOT_RUN = QuestionRun(None, None, None)
"""A question of which nothing is known."""


def observations(runs: Mapping[str, QuestionRun]) -> Iterator[Observation]:
    """Yield what came of every call."""
    for run in runs.values():
        yield from run.observations.values()


def without_logs(runs: Mapping[str, QuestionRun]) -> dict[str, QuestionRun]:
    """Return runs without the logs of counted calls, which nothing reads once they were run."""
    return {
        name: replace(
            run,
            observations={
                key: replace(
                    observation,
                    counted={dim: _bare(each) for dim, each in observation.counted.items()},
                )
                for key, observation in run.observations.items()
            },
        )
        for name, run in runs.items()
    }


def _bare(seen: Observation) -> Observation:
    if LOG not in seen.claims.probes:
        return seen
    left = {name: value for name, value in seen.claims.probes.items() if name != LOG}
    return replace(seen, claims=replace(seen.claims, probes=left))


def observe(
    session: ProcessSession,
    plan: Sequence[PlannedQuestion],
    reference: Mapping[str, QuestionRun] = MappingProxyType({}),
    one_by_one: bool = False,
) -> Iterator[Event]:
    """Run every question of a plan; yield as each begins, and what came of it.

    Args:
        session: Holds the program.
        plan: What to call.
        reference: What came of the plan for the reference: how much there is to answer.
        one_by_one: Somebody waits for a first result: each question is done with before the next
            begins. Else all of them are yielded at the end.

    Raises:
        InfrastructureError: No student process can be started.
    """
    questions = [
        _Question(planned, reference.get(planned.question.id, NOT_RUN)) for planned in plan
    ]
    rounds = _by_process(questions)
    # Visible cases of all questions before any hidden one: what a submission says in a visible case
    # reaches the student, and must not be able to tell of hidden inputs that it saw before.
    for hidden in (False, True):
        for group in next(rounds):
            for together in [[each] for each in group] if one_by_one else [group]:
                yield from _observe_together(session, together, hidden, one_by_one)
                for question in together:
                    if one_by_one and question.ends_with(hidden):
                        yield question.observed()
    session.close_all()
    if not one_by_one:
        yield from (question.observed() for question in questions)


def _observe_together(
    session: ProcessSession, questions: Sequence[_Question], hidden: bool, listen: bool
) -> Iterator[QuestionStarted]:
    for question in questions:
        if not hidden:
            yield QuestionStarted(question.id)
        # Not in hidden cases: what is printed there may tell of their inputs.
        question.observe(session, hidden, listen and not hidden)
    # Calls that only count operations come last. One that ends its process costs no other check:
    # by now the values are there, and whatever comes next gets a new process.
    for question in questions:
        question.count(session, hidden)


def runs_of(events: Iterable[Event], started: Progress = lambda _: None) -> dict[str, QuestionRun]:
    """Return question → what came of it; call ``started`` with the id of each as it begins."""
    runs = {}
    for event in events:
        if isinstance(event, QuestionStarted):
            started(event.id)
        else:
            runs[event.id] = event.run
    return runs


def _by_process(questions: Sequence[_Question]) -> Iterator[list[list[_Question]]]:
    """Yield all questions in groups that can share a student process, round after round.

    Every second round is reversed. It then begins with the group whose process is still running,
    and goes on with the group whose process the session has set aside: neither is started again.
    """
    groups: list[list[_Question]] = []
    for question in questions:
        for group in groups:
            if group[0].process == question.process:
                group.append(question)
                break
        else:
            groups.append([question])
    while True:
        yield groups
        groups.reverse()


def _is_logged(planned: PlannedQuestion, case: PlannedCase, counted: CountedCall) -> bool:
    """Tell whether a check rests on what a counted call writes down."""
    # Such a log holds what is computed on the CPU, in a call of the function alone.
    if planned.process.virtual_gpus or planned.process.cuda or case.case.scenario is not None:
        return False
    checks = checks_on(planned.question, case.case)
    wanted = {probe for check in checks if check.hears_log() for probe in check.needs()}
    # Rules on arguments count nothing themselves. Of what others have counted they hear logs that
    # are written anyway: a loop that reads numbers takes long to write down, and is not proved.
    alone = not any(Probe.COUNTING in check.needs() for check in checks)
    due = Probe.GROWTH in wanted or (not counted.grown and (alone or Probe.COUNTING in wanted))
    return due and any(check.hears_log() for check in checks)


class _Question:
    """One question while it is being observed."""

    def __init__(self, planned: PlannedQuestion, reference: QuestionRun) -> None:
        self.id = planned.question.id
        self.process = planned.process
        self._planned = planned
        self._reference = reference
        self._entry: str | None = None
        self._loaded: Loaded | None = None
        self._failed_load: Observation | None = None
        self._deaths = 0
        self._given_up: Observation | None = None
        self._observations: dict[str, Observation] = {}
        self._seconds = 0.0
        self.printed = ""

    def observe(self, session: ProcessSession, hidden: bool, listen: bool) -> None:
        """Run the visible cases, or the hidden ones; keep what they print if somebody listens."""
        cases = [case for case in self._planned.cases if case.inputs.hidden is hidden]
        if not cases:
            return
        start = time.monotonic()
        self._enter(session)
        before = session.printed() if listen else b""
        if self._entry is not None:
            for case in self._left(session, cases, self._entry):
                self._observations[case.key] = self._call(session, case, self._entry)
        if listen:
            self.printed = session.printed().removeprefix(before).decode("utf-8", "replace")
        self._seconds += time.monotonic() - start

    def _left(
        self, session: ProcessSession, cases: Sequence[PlannedCase], entry: str
    ) -> list[PlannedCase]:
        """Make the calls that need no scenario together; return the cases that are left.

        Where one costs its student process, those after it are left, to be made one by one.
        """
        plain = [] if self._given_up else [case for case in cases if not case.case.scenario]
        calls = [
            (case.call(entry, self._planned.probes(case)), self._likely(case)) for case in plain
        ]
        observations = session.calls_fairly(calls, self.process.seconds)
        # = {case.key|Fewer came back than were asked where one of them cost its student process.
        self._observations |= {
            case.key: item for case, item in zip(plain, observations, strict=False)
        }
        if observations:
            self._weigh(session, observations[-1])
        return [case for case in cases if case.key not in self._observations]

    def count(self, session: ProcessSession, hidden: bool) -> None:
        """Make the calls that are only counted, for visible or hidden cases that came to an end."""
        start, starting = time.monotonic(), session.starting
        for case in self._planned.cases:
            observation = self._observations.get(case.key)
            if self._entry is None or not case.counted or observation is None:
                continue
            if case.inputs.hidden is not hidden:
                continue
            if observation.outcome is Outcome.COMPLETED:
                counted = self._counted(session, case, self._entry)
                self._observations[case.key] = replace(observation, counted=counted)
        spent = time.monotonic() - start
        self._seconds += spent
        session.counting += spent - (session.starting - starting)

    def ends_with(self, hidden: bool) -> bool:
        """Tell whether no case is left once the visible ones, or the hidden ones, have run."""
        return any(case.inputs.hidden for case in self._planned.cases) is hidden

    def observed(self) -> QuestionObserved:
        """Return what came of the question."""
        failed_load = self._failed_load if self._entry is None else None
        seconds = round(self._seconds, 4)
        run = QuestionRun(self._entry, self._loaded, failed_load, self._observations, seconds)
        return QuestionObserved(self.id, run, self.printed)

    def _enter(self, session: ProcessSession) -> None:
        """Have a student process, and find the entry point in it."""
        if self._given_up is not None:
            return
        session.prepare(self.process)
        self._failed_load = self._given_up = session.failed_load
        if self._failed_load is None and session.loaded is not None:
            self._loaded = session.loaded
            names = self._planned.question.names
            self._entry = next((name for name in names if name in self._loaded.names), None)

    def _counted(
        self, session: ProcessSession, case: PlannedCase, entry: str
    ) -> dict[str, Observation]:
        # The calls before may have ended the process.
        session.prepare(self.process)
        if session.failed_load is not None:
            return {}
        # Work in another process would be counted nowhere.
        alone = () if self.process.processes else (ALONE,)
        calls: list[Sized] = []
        for call in case.counted:
            probes = (*alone, LOG) if _is_logged(self._planned, case, call) else alone
            calls.append((case.counting_call(entry, call, *probes), self._likely(case, call)))
        # Counting traces every line, which takes many times as long as the call alone: the plain
        # limit would end honest code.
        observations = session.calls_fairly(calls, _COUNTING_IS_SLOW * self.process.seconds)
        return {call.grown: item for call, item in zip(case.counted, observations, strict=False)}

    def _call(self, session: ProcessSession, case: PlannedCase, entry: str) -> Observation:
        if self._given_up is None and not session.alive:
            self._enter(session)
        if self._given_up is not None:
            return self._given_up
        call = case.call(entry, self._planned.probes(case))
        session.likely = self._likely(case)
        observation = session.call_fairly(call, self.process.seconds)
        self._weigh(session, observation)
        return observation

    def _weigh(self, session: ProcessSession, last: Observation) -> None:
        """Find out whether the cases that are left can be run."""
        if not session.alive:
            self._deaths += 1
        if last.outcome is Outcome.SANDBOX_FAILED:
            # The machine's doing: what it did not come to is pending as well.
            self._given_up = last
        # A few deaths are looked into, not all: each costs a start and a limit, and a class would
        # wait for a question that always hangs.
        elif self._deaths == _DEATHS:
            self._given_up = _NOT_RUN

    def _likely(self, case: PlannedCase, counted: CountedCall | None = None) -> FrameSize | None:
        """Return the size of the reference's answer to a call of a case."""
        observation = self._reference.observations.get(case.key)
        if observation is not None and counted is not None:
            observation = observation.counted.get(counted.grown)
        return observation.facts.reply if observation is not None else None
