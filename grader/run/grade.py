"""Grading: one assignment, one sandbox, any number of submissions."""

from __future__ import annotations

import copy
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from grader import __version__
from grader.errors import InfrastructureError, UsageError, nearest
from grader.intake import Where, read_submission
from grader.intake.submission import IntakeError, Submission
from grader.report.build import RunRecord, build_report, submission_info
from grader.report.model import Environment, IsolationInfo, Report, SubmissionInfo, Timing
from grader.run.devices import count_gpus
from grader.run.draw import digest_of
from grader.run.materials import Materials
from grader.run.observe import QuestionRun, guest_needs, observe
from grader.run.plan import PlannedQuestion
from grader.run.reference import Reference
from grader.run.session import Session
from grader.run.sources import read_sources
from grader.run.verdicts import Verdicts, for_all, judge_question, not_graded_here
from grader.sandbox.base import Sandbox
from grader.source.reader import SourceReader
from grader.spec.types import Assignment, Question
from grader.verdict import Code, Message, Owner, Verdict, failed, fault

DeviceChoice = Literal["auto", "cpu", "cuda"]
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What whoever grades may choose.

    Attributes:
        seed: Of all drawn inputs; recorded in the report.
        device: ``auto`` uses GPUs where the machine has them, ``cpu`` never, ``cuda`` insists.
        questions: Ids to grade; all where empty.
    """

    seed: int
    device: DeviceChoice = "auto"
    questions: tuple[str, ...] = ()


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

    Raises:
        UsageError: A selected question does not exist, or there is no GPU although
            one was insisted on.
    """

    def __init__(self, materials: Materials, sandbox: Sandbox, options: Options) -> None:
        self.assignment = materials.assignment
        self._materials = materials
        self._sandbox = sandbox
        self._options = options
        self._gpus = _usable_gpus(options.device)
        self._selected = _select(self.assignment, options.questions)
        self._not_here: dict[str, Verdicts] = {}
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
        gradable = []
        for question in self._selected:
            granted = self._sandbox.grants(guest_needs(question))
            verdict = not_graded_here(question, self._gpus, granted)
            if verdict is None:
                gradable.append(question)
            else:
                self._not_here[question.id] = for_all(question, verdict)
        session = Session(self._sandbox, self._materials.program(self._materials.reference))
        try:
            reference = Reference(self._materials, session, progress)
            self.plan, self._reference = reference.run(self._selected, gradable, self._options.seed)
        finally:
            session.close()
        self._versions = session.versions

    def with_sandbox(self, sandbox: Sandbox) -> Grader:
        """Return a grader that shares everything with this one but runs submissions elsewhere."""
        other = copy.copy(self)
        other._sandbox = sandbox
        other._reader = SourceReader()
        return other

    def grade(self, path: Where, name: str, progress: Progress = lambda _: None) -> Report:
        """Return ``examine``'s report."""
        return self.examine(path, name, progress).report

    def examine(self, path: Where, name: str, progress: Progress = lambda _: None) -> Examined:
        """Grade one hand-in.

        Args:
            path: File or folder, or several files by their names.
            name: How reports and tables call it.
            progress: Told the id of each question as it begins.

        Raises:
            UsageError: The path cannot be read.
        """
        watch = _Watch()
        try:
            submission = read_submission(path, self.assignment.hand_in, name=name)
        except IntakeError as error:
            return Examined(self._refused(name, error, watch), {})
        watch.lap("intake")
        graded, runs = self._observe_and_judge(submission, watch, progress)
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
        self, submission: Submission, watch: _Watch, progress: Progress
    ) -> tuple[dict[str, Verdicts], dict[str, QuestionRun]]:
        files = {file.path: file.data for file in submission.files}
        session = Session(self._sandbox, self._materials.program(files))
        try:
            runs = observe(session, self.plan, self.assignment.limits_of, progress)
        except InfrastructureError as error:
            verdict = _machine_fault(str(error))
            failed_all = {
                planned.question.id: for_all(planned.question, verdict) for planned in self.plan
            }
            return self._not_here | failed_all, {}
        finally:
            session.close()
        watch.lap("run")
        watch.questions = {name: run.seconds for name, run in runs.items()}
        runs = read_sources(self._reader, self.plan, runs, files[self.assignment.module])
        watch.lap("source")
        judged = {
            planned.question.id: judge_question(
                planned, self._reference[planned.question.id], runs[planned.question.id]
            )
            for planned in self.plan
        }
        watch.lap("judge")
        return self._not_here | judged, runs

    def plan_digests(self) -> dict[str, str]:
        """Return question → digest of its calls, inputs and what is looked at included."""
        return {
            planned.question.id: digest_of(
                tuple((case.key, case.digest, planned.probes(case)) for case in planned.cases)
            )
            for planned in self.plan
        }

    def not_read(self, name: str, reason: str) -> Examined:
        """Return what is to be said of a hand-in that this machine could not read."""
        verdicts = {q.id: for_all(q, _machine_fault(reason)) for q in self._selected}
        return Examined(self._report(SubmissionInfo(id=name), verdicts, _Watch()), {})

    def judge_again(self, runs: Mapping[str, QuestionRun], before: Report) -> Report:
        """Return the report of a hand-in from what was observed of it; nothing runs.

        Args:
            runs: By question id; of the same plan.
            before: Its earlier report, for what does not come from judging.
        """
        verdicts = {
            planned.question.id: judge_question(
                planned, self._reference[planned.question.id], runs[planned.question.id]
            )
            for planned in self.plan
            if planned.question.id in runs
        }
        record = self._record(before.environment, before.timing)
        return build_report(self.assignment, before.submission, self._not_here | verdicts, record)

    def _refused(self, name: str, error: IntakeError, watch: _Watch) -> Report:
        verdict = failed(error.code, error.message)
        verdicts = {question.id: for_all(question, verdict) for question in self._selected}
        return self._report(SubmissionInfo(id=name), verdicts, watch)

    def _report(
        self, submission: SubmissionInfo, verdicts: dict[str, Verdicts], watch: _Watch
    ) -> Report:
        isolation = self._sandbox.isolation
        environment = Environment(
            torch=self._versions.get("torch", "unknown"),
            python=self._versions.get("python", "unknown"),
            platform=platform.platform(),
            device=f"cuda ×{self._gpus}" if self._gpus else "cpu",
            isolation=IsolationInfo(
                tier=isolation.tier,
                mechanisms=isolation.mechanisms,
                proved=dict(isolation.proved),
            ),
            seed=self._options.seed,
            grader_version=__version__,
        )
        record = self._record(environment, watch.timing())
        return build_report(self.assignment, submission, verdicts, record)

    def _record(self, environment: Environment, timing: Timing) -> RunRecord:
        return RunRecord(
            environment=environment,
            timing=timing,
            assignment_digest=self._materials.digest,
            questions=frozenset(question.id for question in self._selected),
        )


def _machine_fault(reason: str) -> Verdict:
    message = Message("sandbox_failed", {"detail": reason})
    return fault(Code.SANDBOX_FAILED, Owner.INFRASTRUCTURE, message)


def _usable_gpus(device: DeviceChoice) -> int:
    gpus = 0 if device == "cpu" else count_gpus()
    if device == "cuda" and not gpus:
        raise UsageError(
            "--device cuda, but this machine has no GPU that a driver offers; use --device auto "
            "to leave what needs one pending"
        )
    return gpus


def _select(assignment: Assignment, ids: tuple[str, ...]) -> tuple[Question, ...]:
    known = {question.id: question for question in assignment.questions}
    for name in ids:
        if name not in known:
            raise UsageError(
                f"“{assignment.id}” has no question “{name}”{nearest(name, known)} "
                f"Its questions: {', '.join(known)}"
            )
    return tuple(q for q in assignment.questions if not ids or q.id in ids)


@dataclass
class _Watch:
    """Wall time by phase and by question, in seconds."""

    start: float = field(default_factory=time.monotonic)
    phases: dict[str, float] = field(default_factory=dict)
    questions: dict[str, float] = field(default_factory=dict)

    def lap(self, phase: str) -> None:
        spent = sum(self.phases.values())
        self.phases[phase] = round(time.monotonic() - self.start - spent, 4)

    def timing(self) -> Timing:
        seconds = round(time.monotonic() - self.start, 4)
        return Timing(seconds=seconds, questions=self.questions, phases=self.phases)
