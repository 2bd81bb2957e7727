"""Files that a call left, read in a guest of their own, without any code of a hand-in beside them.

A scenario returns a file as its bytes. What they mean is for a parser to say, and parsers have
holes: so a function of the instructor's ``reader.py`` gets them in a fresh guest, behind the same
walls, and what it returns takes the place of the file in the observation.

Defends against: a file that attacks its parser (the host has none), one that never ends or fills
the memory (the guest's limits), a reader that one hand-in's file took over (each has its own).
Does not defend against: a taken-over reader that tells what it likes, which is no more than the
hand-in's own process could say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from grader.errors import Problem, nearest
from grader.observation import Claims, Observation, Outcome
from grader.run.materials import Materials
from grader.run.observe import NOT_RUN, QuestionRun
from grader.run.places import names_in, position_of, why
from grader.run.plan import PlannedCase, PlannedQuestion
from grader.run.session import Session
from grader.sandbox.base import GuestNeeds
from grader.spec.find import READER, SCENARIO
from grader.spec.types import Limits, Question
from grader.wire.frames import FrameSize, size_of
from grader.wire.messages import Call, Fault
from grader.wire.values import Artifact, Opaque, Value

MAX_FILES = 64
MAX_BYTES = 64 * 2**20
"""The most that the files of one item may hold together."""

_ENDLESS = (Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.CRASHED)


def read_artifacts(
    session: Session,
    plan: Sequence[PlannedQuestion],
    runs: Mapping[str, QuestionRun],
    limits_of: Callable[[Question], Limits],
    reference: Mapping[str, QuestionRun] = MappingProxyType({}),
) -> dict[str, QuestionRun]:
    """Return the runs with what the readers made of the files that cases left.

    Visible cases first, as they ran: a file may have taken the reader's guest over, and must not
    have seen a hidden case's files before it answers on a visible one.

    Args:
        session: Holds the reader's file, and no hand-in.
        plan: What was called.
        runs: What came of it, by question id.
        limits_of: The limits of a question; they hold for its readers as well.
        reference: What came of the plan for the reference, its files read.

    Raises:
        InfrastructureError: No guest can be started.
    """
    readings = [
        _Reading(
            planned,
            runs[planned.question.id],
            limits_of(planned.question),
            reference.get(planned.question.id, NOT_RUN),
        )
        for planned in plan
        if any(case.case.readers for case in planned.cases)
    ]
    for hidden in (False, True):
        for reading in readings:
            reading.read(session, hidden)
    session.close()
    return {**runs, **{reading.id: reading.result() for reading in readings}}


class _Reading:
    """The files of one question.

    Args:
        planned: The question and its cases.
        run: What came of them.
        limits: What each reader may use.
        reference: What came of it for the reference, its files read.
    """

    def __init__(
        self, planned: PlannedQuestion, run: QuestionRun, limits: Limits, reference: QuestionRun
    ) -> None:
        self.id = planned.question.id
        self._planned = planned
        self._run = run
        self._limits = limits
        self._reference = reference
        self._observations = dict(run.observations)
        self._deaths: dict[str, Observation] = {}

    def read(self, session: Session, hidden: bool) -> None:
        """Read the files of the visible cases, or of the hidden ones."""
        for case in self._planned.cases:
            seen = self._observations.get(case.key)
            if seen is None or case.inputs.hidden is not hidden:
                continue
            if seen.outcome is Outcome.COMPLETED:
                for item, function in case.case.readers.items():
                    session.likely = self._likely(case, item)
                    seen = self._with(session, seen, item, function)
                self._observations[case.key] = seen

    def _likely(self, case: PlannedCase, item: str) -> FrameSize | None:
        """Return the size of what the reader made of the reference's file."""
        seen = self._reference.observations.get(case.key)
        value = seen.claims.value if seen is not None else None
        return size_of(value[item]) if isinstance(value, dict) and item in value else None

    def result(self) -> QuestionRun:
        """The run, its files read."""
        return replace(self._run, observations=self._observations)

    def _with(self, session: Session, seen: Observation, item: str, function: str) -> Observation:
        value = seen.claims.value
        if not isinstance(value, dict):
            return seen
        # An item that is not there is a file that is not there: no check sees the result without
        # its reader.
        files = value.get(item)
        reading = (
            self._deaths.get(item)
            or _refused(files)
            or _call(session, self._limits, function, files)
        )
        if reading.outcome in _ENDLESS:
            # Readers of later cases are not tried: as where a hand-in is called, one endless file
            # must not cost a class its afternoon.
            self._deaths[item] = reading
        unread = dict(seen.unread)
        read: Value = reading.claims.value
        if reading.outcome is not Outcome.COMPLETED:
            unread[item] = reading
            read = Opaque("file", "it could not be read")
        content = {**value, item: read} if item in value else value
        return replace(seen, claims=replace(seen.claims, value=content), unread=unread)


def _call(session: Session, limits: Limits, function: str, files: Value) -> Observation:
    session.prepare(limits, GuestNeeds())
    if session.failed_load is not None:
        return replace(session.failed_load, outcome=Outcome.SANDBOX_FAILED)
    if session.loaded is not None and session.loaded.fault is not None:
        return Observation(Outcome.RAISED, claims=Claims(fault=session.loaded.fault))
    return session.call_fairly(Call(function, (files,)), limits.seconds)


def file_problems(
    materials: Materials, plan: Sequence[PlannedQuestion], runs: Mapping[str, QuestionRun]
) -> Iterator[Problem]:
    """Yield the files of the reference that are not there, or that their readers cannot read.

    Args:
        materials: For the paths and the reader.
        plan: What was called.
        runs: What came of it, by question id.
    """
    for planned in plan:
        for case in planned.cases:
            seen = runs[planned.question.id].observations.get(case.key)
            if seen is None or seen.outcome is not Outcome.COMPLETED:
                continue
            where = f"{planned.question.id}.{case.case.id}"
            for item, function in case.case.readers.items():
                value = seen.claims.value
                if not isinstance(value, dict) or item not in value:
                    file = str(materials.folder / SCENARIO)
                    text = f"“{case.case.scenario}” returned no dict with the item “{item}”"
                    yield Problem(file, None, where, text)
                elif item in seen.unread:
                    yield _file_problem(materials, where, function, seen.unread[item])


def _file_problem(materials: Materials, where: str, function: str, seen: Observation) -> Problem:
    file, names = str(materials.folder / READER), names_in(materials.reader.encode())
    text = f"the reader “{function}” failed on the reference's file: {why(seen)}"
    if function not in names:
        text = f"the reader “{function}” is not defined{nearest(function, names)}"
    place = position_of(materials, seen.claims.fault) or (file, names.get(function))
    return Problem(*place, where, text)


def _refused(files: Value) -> Observation | None:
    """Return why what stands in a file's place is not given to a reader, or None."""
    artifacts = files if isinstance(files, list) else [files]
    if not artifacts or not all(isinstance(file, Artifact) for file in artifacts):
        return _fault("FileNotFoundError", "")
    total = sum(len(file.data) for file in artifacts if isinstance(file, Artifact))
    if len(artifacts) > MAX_FILES or total > MAX_BYTES:
        most = f"the most is {MAX_FILES} files and {MAX_BYTES} bytes"
        return _fault("ValueError", f"{len(artifacts)} files of {total} bytes; {most}")
    return None


def _fault(kind: str, message: str) -> Observation:
    return Observation(Outcome.RAISED, claims=Claims(fault=Fault(kind, message)))
