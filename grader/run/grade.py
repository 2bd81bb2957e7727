"""Grading: one assignment, one sandbox, any number of submissions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.errors import InfrastructureError
from grader.report.build import RunRecord, build_question, build_report, submission_info
from grader.report.messages.catalogue import ENGLISH
from grader.report.messages.words import Words
from grader.report.model import Environment, QuestionResult, Report, SubmissionInfo, Timing
from grader.run.allowance import NO_CARE, Care
from grader.run.capabilities import (
    Options,
    device_name,
    devices_name,
    gradable_here,
    missing_packages,
    usable_gpus,
)
from grader.run.clocks import Clocks
from grader.run.device_times import OpenRack, no_rack, open_rack
from grader.run.gpus import ProveGpus, prove_gpus, scrub_gpus
from grader.run.kept import KeptReference, ReferenceCache, Replayed, keep, needs_of
from grader.run.machine import environment
from grader.run.materials import Materials
from grader.run.observe import NOT_RUN, Follower, Progress, QuestionRun
from grader.run.plan import PlannedQuestion, plan_digests
from grader.run.reference import Reference, plan_all
from grader.run.screening import Screener
from grader.run.stage import open_session
from grader.run.submitted import (
    SubmissionRunner,
    Verdicts,
    for_all,
    judge_all,
    left_to_grading,
    machine_fault,
)
from grader.run.unrun import as_before
from grader.run.watch import Watch
from grader.sandbox.host.guests import Gpu, GuestNeeds, Sandbox
from grader.submission import Where, read_submission
from grader.submission.submission import IntakeError
from grader.verdict import Code, Message, Verdict, failed

__all__ = ["Examined", "Grader", "Options", "Progress"]


Told = Callable[[QuestionResult, QuestionRun], None]


@dataclass(frozen=True, slots=True)
class Examined:
    """A report, and what it rests on: what was observed, by question; empty if nothing ran."""

    report: Report
    runs: dict[str, QuestionRun]


class Grader:
    """Grades submissions of one assignment; the reference runs once, in ``prepare``.

    Attributes:
        plan: What is called, once it was prepared.
        words: Language of the reports.
        notes: What whoever grades has to know of this run.
        cache: Where the reference's observations are kept from one run to the next, if anywhere.
        told: Called with each question's result, and what it rests on, as soon as there is one.

    Args:
        materials: The assignment and its files.
        sandbox: Where submissions and reference run.
        options: Seed, device, selection.
        racks: Finds the GPUs that speed is measured on.
        prove: Shows whether guests can use a GPU.

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
        prove: ProveGpus = prove_gpus,
    ) -> None:
        self.assignment = materials.assignment
        self.materials = materials
        self._sandbox = sandbox
        self._options = options
        self._racks = no_rack if options.device in ("cpu", "virtual") else racks
        self._gpus: Sequence[Gpu] = usable_gpus(options.device)
        self._prove = prove
        self._proved: Mapping[str, str] = {}
        self.notes: tuple[str, ...] = ()
        self._selected = options.selected(self.assignment)
        self._not_here: dict[str, Verdicts] = {}
        self._missing: dict[str, str] = {}
        self.plan: tuple[PlannedQuestion, ...] = ()
        self.words: Words = ENGLISH
        self.told: Told | None = None
        self.cache: ReferenceCache | None = None
        self._reference: dict[str, QuestionRun] = {}
        self._versions: dict[str, str] = {}
        self._care = NO_CARE
        self._runner = SubmissionRunner(materials, sandbox, self._care)
        self._screener = Screener(materials, sandbox, options.seed)

    def prepare(self, progress: Progress = lambda _: None) -> None:
        """Draw the inputs and run the reference on them.

        Raises:
            AssignmentError: The reference, a generator or a scenario does not do what it should.
            InfrastructureError: No guest can be started, or none can use the GPU that was
                insisted on.
        """
        self._settle_gpus()
        if self.cache is not None and self._take(self.cache.load(self._options.seed)):
            return
        gradable = self._gradable()
        session = open_session(self._sandbox, self.materials, self.materials.reference)
        try:
            reference = Reference(self.materials, session, progress)
            self.plan, self._reference = reference.run(self._selected, gradable, self._options.seed)
        finally:
            session.finish()
        if any(planned.needs.cuda for planned in self.plan):
            scrub_gpus(self._sandbox, self._gpus, self.assignment.limits)
        elif self.cache is not None:
            generated = reference.generate.generated
            kept = keep(self.plan, self._reference, generated, self._missing)
            self.cache.store(self._options.seed, kept)
        self._versions = session.versions

    def _take(self, kept: KeptReference | None) -> bool:
        """Take what the reference did in an earlier run; False where that does not fit this one."""
        if kept is None:
            return False
        gradable, not_here = gradable_here(
            self._selected, self._options.device, len(self._gpus), self._sandbox, kept.missing
        )
        draw = self._options.seed, Replayed(kept.generated)
        plan, problems = plan_all(self.materials, self._selected, gradable, draw)
        if problems or needs_of(plan) != kept.needs or plan_digests(plan) != kept.digests:
            return False
        if set(kept.runs) != set(gradable) or any(item.needs.cuda for item in plan):
            return False
        self._missing, self._reference = dict(kept.missing), dict(kept.runs)
        self._note_not_here(not_here)
        self.plan = tuple(plan)
        return True

    def adopt(self, plan: Sequence[PlannedQuestion], reference: Mapping[str, QuestionRun]) -> None:
        """Take inputs and the reference's observations as they were kept; ``prepare`` is not due.

        A selected question that the plan does not have is left pending.

        Args:
            plan: The inputs.
            reference: What the reference did with them, by question id.
        """
        planned = {item.question.id: item for item in plan}
        gradable = self._gradable()
        for question in self._selected:
            if question.id in gradable and question.id not in planned:
                self._not_here[question.id] = for_all(question, left_to_grading())
        self.plan = tuple(
            replace(planned[name], needs=needs)
            for name, needs in gradable.items()
            if name in planned
        )
        self._reference = dict(reference)

    def _gradable(self) -> dict[str, GuestNeeds]:
        """Return what the questions that can be graded here need; note why others cannot."""
        # Of all questions: a hand-in imports them whether or not those are selected.
        self._missing = missing_packages(self._sandbox, self.assignment.questions)
        gradable, not_here = gradable_here(
            self._selected, self._options.device, len(self._gpus), self._sandbox, self._missing
        )
        self._note_not_here(not_here)
        return gradable

    def _note_not_here(self, reasons: Mapping[str, Verdict]) -> None:
        for question in self._selected:
            if question.id in reasons:
                self._not_here[question.id] = for_all(question, reasons[question.id])

    def _settle_gpus(self) -> None:
        """Have guests show that they can use the GPUs, if any question asks for one."""
        asked = any(item.needs.cuda and not item.needs.timeline for item in self._selected)
        if not (self._gpus and asked):
            return
        proof = self._prove(self._sandbox, self._gpus, self.assignment.limits)
        self._proved = proof.proved
        if not proof.failed:
            return
        told = proof.told(self._sandbox.isolation.tier.value)
        if self._options.device == "cuda":
            raise InfrastructureError(f"--device cuda: {told}")
        self.notes = (f"GPU questions are graded on virtual GPUs: {told}",)
        self._gpus, self._racks = (), no_rack

    def with_sandbox(self, sandbox: Sandbox, care: Care = NO_CARE) -> Grader:
        """Return a grader that shares everything with this one but runs submissions elsewhere.

        Args:
            sandbox: Where they run.
            care: What surrounds work on what they answer.
        """
        other = copy.copy(self)
        other._sandbox, other._care = sandbox, care
        other._runner = SubmissionRunner(self.materials, sandbox, care)
        other._screener = Screener(self.materials, sandbox, self._options.seed)
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
            clock: Time what is not clear in passing, too, where the options have that; a class is
                timed last.

        Raises:
            UsageError: The path cannot be read.
        """
        watch = Watch()
        try:
            asked = self.assignment.functions
            submission = read_submission(path, self.assignment.hand_in, name=name, asked=asked)
        except IntakeError as error:
            return Examined(self._all(name, failed(error.code, error.message), watch), {})
        watch.lap("intake")
        files = {file.path: file.data for file in submission.files}
        graded, runs = self._observe_and_judge(files, watch, progress)
        if self._options.clock and runs:
            graded, runs = self._clocks().in_passing(files, runs, graded)
            if clock:
                graded, runs = self._clocks().judge(files, runs, graded)
            watch.lap("clock")
        return Examined(self._report(submission_info(submission, self.words), graded, watch), runs)

    @property
    def reference_runs(self) -> dict[str, QuestionRun]:
        """What the reference did, by question."""
        return self._reference

    def _observe_and_judge(
        self, files: dict[str, bytes], watch: Watch, progress: Progress
    ) -> tuple[dict[str, Verdicts], dict[str, QuestionRun]]:
        """Return all verdicts but those that take a clock, and what they rest on."""
        try:
            progress = self._follower(progress)
            runs = self._runner.run(self.plan, files, watch, progress, self._reference)
            self._versions = self._versions or self._runner.versions
            with self._care.judging():
                judged = judge_all(self.plan, self._reference, runs, self._missing)
        except InfrastructureError as error:
            verdict = machine_fault(str(error))
            failed_all = {
                planned.question.id: for_all(planned.question, verdict) for planned in self.plan
            }
            return self._not_here | failed_all, {}
        watch.lap("judge")
        # What a device did to a hand-in, or an earlier hand-in to the device, costs nobody points.
        judged |= self._clocks().faults(runs)
        return self._not_here | judged, runs

    def _follower(self, progress: Progress) -> Progress:
        """Return what tells of each question's result, if anybody waits for that."""
        tell = self.told
        if tell is None:
            return progress
        planned = {item.question.id: item for item in self.plan}

        def ends(name: str, run: QuestionRun) -> None:
            item = planned[name]
            # What a real GPU did wrong is known at the end.
            if not item.needs.cuda:
                judged = judge_all([item], self._reference, {name: run}, self._missing)[name]
                device = device_name(item.needs)
                tell(build_question(item.question, judged, self.words, device), run)

        for question in self._selected:
            if question.id in self._not_here:
                verdicts = self._not_here[question.id]
                tell(build_question(question, verdicts, self.words, ""), NOT_RUN)
        return Follower(progress, ends)

    def not_read(self, name: str, reason: str) -> Examined:
        """Return what is to be said of a hand-in that this machine could not read."""
        return Examined(self._all(name, machine_fault(reason), Watch()), {})

    def not_readable(self, name: str, digest: str) -> Examined:
        """Return what is to be said of a hand-in whose answers nobody comes through alive.

        Args:
            name: How reports call it.
            digest: Over its files.
        """
        verdict = failed(Code.PROTOCOL_VIOLATION, Message("protocol_violation"))
        verdicts = {question.id: for_all(question, verdict) for question in self._selected}
        info = SubmissionInfo(id=name, digest=digest)
        return Examined(self._report(info, verdicts, Watch()), {})

    def judge_again(self, runs: Mapping[str, QuestionRun], before: Report) -> Report:
        """Return the report of a hand-in from what was observed of it; nothing runs.

        Args:
            runs: By question id; of the same plan.
            before: Its earlier report, for what does not come from judging.
        """
        judged = judge_all(self.plan, self._reference, runs, self._missing)
        left = [q for q in self._selected if not (runs and q.id in self._not_here | judged)]
        verdicts = self._not_here | judged | as_before(left, before)
        return self._build(before.submission, verdicts, before.environment, before.timing)

    def _clocks(self) -> Clocks:
        seed = self._options.seed
        return Clocks(
            self.materials, self._sandbox, seed, self._racks, self._screener, self.plan,
            self._reference,
        )  # fmt: skip

    def awaits_clock(self, report: Report) -> bool:
        """Return whether timing may settle points that a report made without it left pending."""
        return self._options.clock and self._clocks().awaited(report)

    def _all(self, name: str, verdict: Verdict, watch: Watch) -> Report:
        verdicts = {question.id: for_all(question, verdict) for question in self._selected}
        return self._report(SubmissionInfo(id=name), verdicts, watch)

    def _report(
        self, submission: SubmissionInfo, verdicts: dict[str, Verdicts], watch: Watch
    ) -> Report:
        used = devices_name(planned.needs for planned in self.plan)
        where = environment(
            self._sandbox.isolation, self._versions, used, self._options.seed, self._proved
        )
        return self._build(submission, verdicts, where, watch.timing())

    def _build(
        self,
        submission: SubmissionInfo,
        verdicts: dict[str, Verdicts],
        where: Environment,
        timing: Timing,
    ) -> Report:
        record = RunRecord(
            environment=where,
            timing=timing,
            assignment_digest=self.materials.digest,
            questions=frozenset(question.id for question in self._selected),
            devices={planned.question.id: device_name(planned.needs) for planned in self.plan},
        )
        return build_report(self.assignment, submission, verdicts, record, self.words)
