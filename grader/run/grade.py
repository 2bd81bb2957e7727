"""Grading: one assignment, one sandbox, any number of submissions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from grader.errors import InfrastructureError
from grader.intake import Where, read_submission
from grader.intake.submission import IntakeError
from grader.report.build import RunRecord, build_report, submission_info
from grader.report.model import Environment, Report, SubmissionInfo, Timing
from grader.run.artifacts import read_artifacts
from grader.run.clocks import Clocks
from grader.run.device_times import OpenRack, no_rack, open_rack
from grader.run.devices import device_name, devices_name, resolve, usable_gpus
from grader.run.machine import environment
from grader.run.materials import Materials
from grader.run.observe import QuestionRun, observe
from grader.run.options import Options
from grader.run.packages import lacking, lacking_at_import, missing_packages
from grader.run.plan import PlannedQuestion
from grader.run.reference import Reference
from grader.run.session import Session
from grader.run.sources import read_sources
from grader.run.verdicts import Verdicts, for_all, judge_question
from grader.run.watch import Watch
from grader.sandbox.base import GuestNeeds, Sandbox
from grader.source.reader import SourceReader
from grader.verdict import Code, Message, Owner, Verdict, failed, fault

__all__ = ["Examined", "Grader", "Options", "Progress"]

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Examined:
    """A report, and what it rests on.

    Attributes:
        runs: What was observed, by question; empty where nothing ran.
    """

    report: Report
    runs: dict[str, QuestionRun]


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
        self._selected = options.selected(self.assignment)
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
        self, path: Where, name: str, progress: Progress = lambda _: None, clock: bool = True
    ) -> Report:
        """Return ``examine``'s report."""
        return self.examine(path, name, progress, clock).report

    def examine(
        self, path: Where, name: str, progress: Progress = lambda _: None, clock: bool = True
    ) -> Examined:
        """Grade one hand-in.

        Args:
            path: File or folder, or several files by their names.
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
            return Examined(self._refused(name, error, watch), {})
        watch.lap("intake")
        files = {file.path: file.data for file in submission.files}
        graded, runs = self._observe_and_judge(files, watch, progress)
        if clock and self._options.clock and runs:
            graded, runs = self._clocks().judge(files, runs, graded)
            watch.lap("clock")
        return Examined(self._report(submission_info(submission), graded, watch), runs)

    @property
    def digest(self) -> str:
        """Digest of everything that belongs to the assignment."""
        return self._materials.digest

    @property
    def reference_runs(self) -> dict[str, QuestionRun]:
        """What the reference did, by question."""
        return self._reference

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
            verdict = _machine_fault(str(error))
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

    def not_read(self, name: str, reason: str) -> Examined:
        """Return what is to be said of a hand-in that this machine could not read."""
        verdicts = {q.id: for_all(q, _machine_fault(reason)) for q in self._selected}
        return Examined(self._report(SubmissionInfo(id=name), verdicts, Watch()), {})

    def judge_again(self, runs: Mapping[str, QuestionRun], before: Report) -> Report:
        """Return the report of a hand-in from what was observed of it; nothing runs.

        Args:
            runs: By question id; of the same plan.
            before: Its earlier report, for what does not come from judging.
        """
        verdicts = {
            planned.question.id: self._judge(planned, runs[planned.question.id])
            for planned in self.plan
            if planned.question.id in runs
        }
        record = self._record(before.environment, before.timing)
        return build_report(self.assignment, before.submission, self._not_here | verdicts, record)

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
        used = devices_name(planned.needs for planned in self.plan)
        where = environment(self._sandbox.isolation, self._versions, used, self._options.seed)
        record = self._record(where, watch.timing())
        return build_report(self.assignment, submission, verdicts, record)

    def _record(self, where: Environment, timing: Timing) -> RunRecord:
        return RunRecord(
            environment=where,
            timing=timing,
            assignment_digest=self._materials.digest,
            questions=frozenset(question.id for question in self._selected),
            devices={planned.question.id: device_name(planned.needs) for planned in self.plan},
        )


def _machine_fault(reason: str) -> Verdict:
    message = Message("sandbox_failed", {"detail": reason})
    return fault(Code.SANDBOX_FAILED, Owner.INFRASTRUCTURE, message)
