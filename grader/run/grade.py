"""Grading: one assignment, one sandbox, any number of submissions."""

from __future__ import annotations

import copy
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from grader import __version__
from grader.errors import InfrastructureError, UsageError, nearest
from grader.intake import read_submission
from grader.intake.submission import IntakeError, Submission
from grader.report.build import RunRecord, build_report, submission_info
from grader.report.model import Environment, IsolationInfo, Report, SubmissionInfo
from grader.report.words import ENGLISH, Words
from grader.run.devices import count_gpus
from grader.run.materials import Materials
from grader.run.observe import QuestionRun, guest_needs, observe
from grader.run.plan import PlannedQuestion
from grader.run.reference import Reference
from grader.run.session import Session
from grader.run.sources import read_sources
from grader.run.verdicts import (
    Verdicts,
    for_all,
    judge_question,
    left_to_grading,
    not_graded_here,
)
from grader.run.watch import Watch
from grader.sandbox.base import Sandbox
from grader.source.reader import SourceReader
from grader.spec.types import Assignment, Question
from grader.verdict import Code, Message, Owner, failed, fault

DeviceChoice = Literal["auto", "cpu", "cuda"]
Progress = Callable[[str], None]
Seen = Callable[[Mapping[str, QuestionRun]], None]


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
        self.words: Words = ENGLISH
        self._reference: dict[str, QuestionRun] = {}
        self._versions: dict[str, str] = {}
        self._reader = SourceReader()

    def prepare(self, progress: Progress = lambda _: None) -> None:
        """Draw the inputs and run the reference on them.

        Raises:
            AssignmentError: The reference, a generator or a scenario does not do what it should.
            InfrastructureError: No guest can be started.
        """
        gradable = self._gradable()
        session = Session(self._sandbox, self._materials.program(self._materials.reference))
        try:
            reference = Reference(self._materials, session, progress)
            self.plan, self._reference = reference.run(self._selected, gradable, self._options.seed)
        finally:
            session.close()
        self._versions = session.versions

    def adopt(self, plan: Sequence[PlannedQuestion], reference: Mapping[str, QuestionRun]) -> None:
        """Take inputs and the reference's observations as they were kept; ``prepare`` is not due.

        A selected question that the plan does not have is left pending.

        Args:
            plan: The inputs.
            reference: What the reference did with them, by question id.
        """
        planned = {item.question.id: item for item in plan}
        gradable = self._gradable()
        for question in gradable:
            if question.id not in planned:
                self._not_here[question.id] = for_all(question, left_to_grading())
        self.plan = tuple(planned[item.id] for item in gradable if item.id in planned)
        self._reference = dict(reference)

    @property
    def reference(self) -> Mapping[str, QuestionRun]:
        """What the reference did, by question id."""
        return self._reference

    def _gradable(self) -> list[Question]:
        """Return the selected questions that this machine can grade; note why others are not."""
        gradable = []
        for question in self._selected:
            granted = self._sandbox.grants(guest_needs(question))
            verdict = not_graded_here(question, self._gpus, granted)
            if verdict is None:
                gradable.append(question)
            else:
                self._not_here[question.id] = for_all(question, verdict)
        return gradable

    def with_sandbox(self, sandbox: Sandbox) -> Grader:
        """Return a grader that shares everything with this one but runs submissions elsewhere."""
        other = copy.copy(self)
        other._sandbox = sandbox
        other._reader = SourceReader()
        return other

    def grade(
        self,
        path: Path,
        name: str,
        progress: Progress = lambda _: None,
        seen: Seen = lambda _: None,
    ) -> Report:
        """Grade one hand-in.

        Args:
            path: File or folder.
            name: How reports and tables call it.
            progress: Told the id of each question as it begins.
            seen: Told what came of every question, before it is judged.

        Raises:
            UsageError: The path cannot be read.
        """
        watch = Watch()
        try:
            submission = read_submission(path, self.assignment.hand_in, name=name)
        except IntakeError as error:
            return self._refused(name, error, watch)
        watch.lap("intake")
        graded = self._observe_and_judge(submission, watch, progress, seen)
        return self._report(submission_info(submission, self.words), graded, watch)

    def _observe_and_judge(
        self, submission: Submission, watch: Watch, progress: Progress, seen: Seen
    ) -> dict[str, Verdicts]:
        files = {file.path: file.data for file in submission.files}
        session = Session(self._sandbox, self._materials.program(files))
        try:
            runs = observe(session, self.plan, self.assignment.limits_of, progress)
        except InfrastructureError as error:
            message = Message("sandbox_failed", {"detail": str(error)})
            verdict = fault(Code.SANDBOX_FAILED, Owner.INFRASTRUCTURE, message)
            return self._not_here | {
                planned.question.id: for_all(planned.question, verdict) for planned in self.plan
            }
        finally:
            session.close()
        self._versions = self._versions or session.versions
        watch.lap("run")
        watch.questions = {name: run.seconds for name, run in runs.items()}
        runs = read_sources(self._reader, self.plan, runs, files[self.assignment.module])
        watch.lap("source")
        seen(runs)
        judged = {
            planned.question.id: judge_question(
                planned, self._reference[planned.question.id], runs[planned.question.id]
            )
            for planned in self.plan
        }
        watch.lap("judge")
        return self._not_here | judged

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
            device=f"cuda ×{self._gpus}" if self._gpus else "cpu",
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
        )
        return build_report(self.assignment, submission, verdicts, record, self.words)


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
