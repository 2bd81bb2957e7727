"""Grading: one assignment, one sandbox, any number of submissions."""

from __future__ import annotations

import copy
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grader import __version__
from grader.errors import InfrastructureError, UsageError, nearest
from grader.intake import read_submission
from grader.intake.submission import IntakeError
from grader.report.build import RunRecord, build_report, submission_info
from grader.report.model import Environment, IsolationInfo, Report, SubmissionInfo
from grader.run.artifacts import read_artifacts
from grader.run.clocks import Clocks
from grader.run.device_times import OpenRack, no_rack, open_rack
from grader.run.devices import DeviceChoice, device_name, devices_name, resolve, usable_gpus
from grader.run.materials import Materials
from grader.run.observe import QuestionRun, observe
from grader.run.packages import lacking, lacking_at_import, missing_packages
from grader.run.plan import PlannedQuestion
from grader.run.reference import Reference
from grader.run.session import Session
from grader.run.sources import read_sources
from grader.run.verdicts import Verdicts, for_all, judge_question
from grader.run.watch import Watch
from grader.sandbox.base import GuestNeeds, Sandbox
from grader.source.reader import SourceReader
from grader.spec.types import Assignment, Question
from grader.verdict import Code, Message, Owner, failed, fault

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What whoever grades may choose.

    Attributes:
        seed: Of all drawn inputs; recorded in the report.
        device: ``auto`` takes real GPUs for the questions that can have them and virtual ones for
            the others, ``cpu`` none of either, ``virtual`` no real ones, ``cuda`` no virtual ones.
        questions: Ids to grade; all where empty.
        clock: Time what is graded on its speed; else those points stay pending.
    """

    seed: int
    device: DeviceChoice = "auto"
    questions: tuple[str, ...] = ()
    clock: bool = False


class Grader:
    """Grades submissions of one assignment; the reference runs once, in ``prepare``.

    Args:
        materials: The assignment and its files.
        sandbox: Where submissions and reference run.
        options: Seed, device, selection.
        racks: Finds the GPUs that speed is measured on.

    Raises:
        UsageError: A selected question does not exist, or there is no GPU although
            one was insisted on.
    """

    def __init__(
        self,
        materials: Materials,
        sandbox: Sandbox,
        options: Options,
        racks: OpenRack = open_rack,
    ) -> None:
        self.assignment = materials.assignment
        self._materials = materials
        self._sandbox = sandbox
        self._options = options
        self._racks = no_rack if options.device in ("cpu", "virtual") else racks
        self._gpus = usable_gpus(options.device)
        self._selected = _select(self.assignment, options.questions)
        self._not_here: dict[str, Verdicts] = {}
        self._missing: dict[str, str] = {}
        self.plan: tuple[PlannedQuestion, ...] = ()
        self._reference: dict[str, QuestionRun] = {}
        self._versions: dict[str, str] = {}
        self._reader = SourceReader()

    def prepare(self, progress: Progress = lambda _: None) -> None:
        """Draw the inputs and run the reference on them.

        Raises:
            AssignmentError: The reference, a generator or a scenario does not do what it should.
            InfrastructureError: No guest can be started.
        """
        gradable: dict[str, GuestNeeds] = {}
        # Of all questions: a hand-in imports them whether or not those are selected.
        self._missing = missing_packages(self._sandbox, self.assignment.questions)
        for question in self._selected:
            resolved = lacking(question, self._missing) or resolve(
                question, self._options.device, self._gpus, self._sandbox.grants
            )
            if isinstance(resolved, GuestNeeds):
                gradable[question.id] = resolved
            else:
                self._not_here[question.id] = for_all(question, resolved)
        session = Session(self._sandbox, self._materials.program(self._materials.reference))
        reader = Session(self._sandbox, self._materials.reading())
        try:
            reference = Reference(self._materials, session, reader, progress)
            self.plan, self._reference = reference.run(self._selected, gradable, self._options.seed)
        finally:
            session.close()
            reader.close()
        self._versions = session.versions

    def with_sandbox(self, sandbox: Sandbox) -> Grader:
        """Return a grader that shares everything with this one but runs submissions elsewhere."""
        other = copy.copy(self)
        other._sandbox = sandbox
        other._reader = SourceReader()
        return other

    def grade(
        self, path: Path, name: str, progress: Progress = lambda _: None, clock: bool = True
    ) -> Report:
        """Grade one hand-in.

        Args:
            path: File or folder.
            name: How reports and tables call it.
            progress: Told the id of each question as it begins.
            clock: Time it too, where the options have that; a class is timed last.

        Raises:
            UsageError: The path cannot be read.
        """
        watch = Watch()
        try:
            submission = read_submission(path, self.assignment.hand_in, name=name)
        except IntakeError as error:
            return self._refused(name, error, watch)
        watch.lap("intake")
        files = {file.path: file.data for file in submission.files}
        graded, runs = self._observe_and_judge(files, watch, progress)
        if clock and self._options.clock and runs:
            graded, runs = self._clocks().judge(files, runs, graded)
            watch.lap("clock")
        return self._report(submission_info(submission), graded, watch)

    def _observe_and_judge(
        self, files: dict[str, bytes], watch: Watch, progress: Progress
    ) -> tuple[dict[str, Verdicts], dict[str, QuestionRun]]:
        """Return all verdicts but those that take a clock, and what they rest on."""
        limits_of = self.assignment.limits_of
        session = Session(self._sandbox, self._materials.program(files))
        # Of its own for each hand-in: the last one's file may have taken the last reader over.
        reader = Session(self._sandbox, self._materials.reading())
        try:
            runs = observe(session, self.plan, limits_of, progress)
            runs = read_artifacts(reader, self.plan, runs, limits_of)
        except InfrastructureError as error:
            message = Message("sandbox_failed", {"detail": str(error)})
            verdict = fault(Code.SANDBOX_FAILED, Owner.INFRASTRUCTURE, message)
            failed_all = {
                planned.question.id: for_all(planned.question, verdict) for planned in self.plan
            }
            return self._not_here | failed_all, {}
        finally:
            session.close()
            reader.close()
        watch.lap("run")
        watch.questions = {name: run.seconds for name, run in runs.items()}
        runs = read_sources(self._reader, self.plan, runs, files[self.assignment.module])
        watch.lap("source")
        judged = {
            planned.question.id: self._judge(planned, runs[planned.question.id])
            for planned in self.plan
        }
        watch.lap("judge")
        # What a device did to a hand-in, or an earlier hand-in to the device, costs nobody points.
        judged |= self._clocks().faults(runs)
        return self._not_here | judged, runs

    def _judge(self, planned: PlannedQuestion, run: QuestionRun) -> Verdicts:
        if lack := lacking_at_import(run, self._missing):
            return for_all(planned.question, lack)
        return judge_question(planned, self._reference[planned.question.id], run)

    def _clocks(self) -> Clocks:
        return Clocks(
            self._materials,
            self._sandbox,
            self._options.seed,
            self._racks,
            self.plan,
            self._reference,
        )

    def awaits_clock(self, report: Report) -> bool:
        """Return whether timing may settle points that a report made without it left pending."""
        return self._options.clock and self._clocks().awaited(report)

    def _refused(self, name: str, error: IntakeError, watch: Watch) -> Report:
        verdict = failed(error.code, error.message)
        verdicts = {question.id: for_all(question, verdict) for question in self._selected}
        return self._report(SubmissionInfo(id=name), verdicts, watch)

    def _report(
        self, submission: SubmissionInfo, verdicts: dict[str, Verdicts], watch: Watch
    ) -> Report:
        isolation = self._sandbox.isolation
        environment = Environment(
            torch=self._versions.get("torch", "unknown"),
            python=self._versions.get("python", "unknown"),
            platform=platform.platform(),
            device=devices_name(planned.needs for planned in self.plan),
            isolation=IsolationInfo(
                tier=isolation.tier,
                mechanisms=isolation.mechanisms,
                proved=dict(isolation.proved),
            ),
            seed=self._options.seed,
            grader_version=__version__,
        )
        record = RunRecord(
            environment=environment,
            timing=watch.timing(),
            assignment_digest=self._materials.digest,
            questions=frozenset(question.id for question in self._selected),
            devices={planned.question.id: device_name(planned.needs) for planned in self.plan},
        )
        return build_report(self.assignment, submission, verdicts, record)


def _select(assignment: Assignment, ids: tuple[str, ...]) -> tuple[Question, ...]:
    known = {question.id: question for question in assignment.questions}
    for name in ids:
        if name not in known:
            raise UsageError(
                f"“{assignment.id}” has no question “{name}”{nearest(name, known)} "
                f"Its questions: {', '.join(known)}"
            )
    return tuple(q for q in assignment.questions if not ids or q.id in ids)
