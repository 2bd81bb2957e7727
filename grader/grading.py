"""Grading: one assignment, one sandbox, any number of submissions. Joins ``run`` and ``report``."""

from __future__ import annotations

import copy
import platform
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import cast

from grader import __version__
from grader.assignment.types import Question
from grader.errors import InfrastructureError
from grader.report.build import RunRecord, build_question, build_report, submission_info
from grader.report.messages.catalogue import ENGLISH
from grader.report.messages.words import Words
from grader.report.model import (
    CheckResult,
    Environment,
    IsolationInfo,
    QuestionResult,
    Report,
    SubmissionInfo,
    Timing,
)
from grader.run.answer_budget import NO_GUARD, CpuGuard
from grader.run.answers import KeptAnswers
from grader.run.baseline import Baseline, received
from grader.run.baseline_file import ReferenceCache
from grader.run.capabilities import Options, devices_name
from grader.run.gpus import OpenRack, ProveGpus, open_rack, prove_gpus
from grader.run.judge_submission import (
    Runs,
    SubmissionRunner,
    Verdicts,
    for_all,
    has_wrong_results,
    judge_all,
)
from grader.run.materials import Materials
from grader.run.mending import Mender
from grader.run.mistakes import Explains, KnownMistakes, same_results
from grader.run.observe import (
    NOT_RUN,
    PhaseTimes,
    Progress,
    QuestionObserved,
    QuestionRun,
    QuestionStarted,
    runs_of,
)
from grader.run.plan import PlannedQuestion
from grader.run.prices import Made, PartialCredit, Price
from grader.run.timing.clocks import Clocks
from grader.run.timing.quick_screen import Screener
from grader.sandbox.host.processes import Sandbox
from grader.submission import Submission, Where, read_for
from grader.submission.submission import IntakeError
from grader.verdict import Code, Message, Param, Status, Verdict, failed, sandbox_failed

__all__ = ["Examined", "Grader", "Options", "Progress"]

OnQuestion = Callable[[QuestionResult, QuestionRun, str], None]
"""Called with the result of a question, what it rests on, and what its visible cases printed."""

_OF_ALL_CHECKS = (Status.FAILED, Status.ERROR)


@dataclass(frozen=True, slots=True)
class Examined:
    """A report, and what it rests on: what was observed, by question; empty if nothing ran."""

    report: Report
    runs: dict[str, QuestionRun]


class Grader:
    """Grades submissions of one assignment; the reference runs once, in ``prepare``.

    Attributes:
        words: Language of the reports.
        options: Seed, device, selection.
        on_question: Called with each question's result, and what it rests on, as soon as there is
            one.
        mends: Slips are mended where an assignment says what they earn.

    Args:
        materials: The assignment and its files.
        sandbox: Where submissions and reference run.
        options: Seed, device, selection.
        racks: Finds the GPUs that speed is measured on.
        prove: Shows whether student processes can use a GPU.

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
        self.words: Words = ENGLISH
        self.on_question: OnQuestion | None = None
        self.mends = True
        self.options = options
        self._baseline = Baseline(materials, options, racks, prove)
        self.mistakes: Explains = KnownMistakes(materials)
        self._versions: dict[str, str] = {}
        self._use(sandbox, NO_GUARD)

    @property
    def plan(self) -> tuple[PlannedQuestion, ...]:
        """The plan: all planned calls, once it was prepared."""
        return self._baseline.plan

    @property
    def reference_runs(self) -> dict[str, QuestionRun]:
        """The reference's observations, by question."""
        return self._baseline.runs

    @property
    def answers(self) -> KeptAnswers:
        """The same, as a journal keeps it."""
        return self._baseline.answers

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on this run for whoever grades."""
        return self._baseline.notes

    def keep_reference(self, cache: ReferenceCache | None) -> None:
        """Have the reference's observations kept from one run to the next."""
        self._baseline.cache = cache

    def prepare(self, progress: Progress = lambda _: None) -> None:
        """Draw the inputs and run the reference on them; see ``Baseline.prepare``."""
        self._baseline.prepare(self._sandbox, progress)
        self._versions = self._baseline.versions

    def adopt(self, plan: Collection[PlannedQuestion], reference: Runs) -> None:
        """Take inputs and the reference's observations as kept; see ``Baseline.adopt``."""
        self._baseline.adopt(self._sandbox, list(plan), reference)

    def with_sandbox(self, sandbox: Sandbox, guard: CpuGuard = NO_GUARD) -> Grader:
        """Return a grader that shares everything with this one but runs submissions elsewhere."""
        other = copy.copy(self)
        other._use(sandbox, guard)
        return other

    def with_questions(self, questions: Collection[str]) -> Grader:
        """Return a grader that runs some questions alone; of the others nothing is known."""
        other = copy.copy(self)
        other._baseline = self._baseline.only(questions)
        return other

    def _use(self, sandbox: Sandbox, guard: CpuGuard) -> None:
        self._sandbox, self._guard = sandbox, guard
        seed = self.options.seed
        self._runner = SubmissionRunner(self.materials, sandbox, guard, seed, self._made)
        self._mender = Mender(self.materials, sandbox, guard, self._rerun)
        self._screener = Screener(self.materials, sandbox, self.options.seed)
        # A node of a cluster opens its own later.
        if sandbox is not None:
            self._baseline.allow_gpu_memory(sandbox)

    def grade(
        self, path: Where, name: str, progress: Progress = lambda _: None, clock: bool = True
    ) -> Report:
        """Return ``examine``'s report."""
        return self.examine(path, name, progress, clock).report

    def examine(
        self, path: Where, name: str, progress: Progress = lambda _: None, clock: bool = True
    ) -> Examined:
        """Grade one submission.

        Args:
            path: File or folder, or several files by their names.
            name: How reports and tables call it.
            progress: Called with the id of each question as it begins.
            clock: Time what is not clear in passing, too, where the options have that; a class is
                timed last.

        Raises:
            UsageError: The path cannot be read.
        """
        phases = PhaseTimes()
        try:
            submission = read_for(self.assignment, path, name)
        except IntakeError as error:
            return Examined(self._all(SubmissionInfo(id=name), error.verdict_of, phases), {})
        phases.lap("intake")
        return self._for(submission)._examined(submission, phases, progress, clock)

    def _for(self, submission: Submission) -> Grader:
        """Return a grader of the files that can be graded; questions in others earn nothing.

        What a person reads is only received.
        """
        known = {
            question.id: for_all(question, failed(error.code, error.message))
            for question in self._baseline.selected
            if (error := submission.refused.get(self.assignment.file_of(question)))
        }
        sizes = {file.path: file.size for file in submission.documents}
        for question in self._baseline.selected:
            if question.file in sizes:
                known[question.id] = received(question, sizes[question.file])
        if not known:
            return self
        other = copy.copy(self)
        other._baseline = self._baseline.without(known)
        return other

    def _examined(
        self, submission: Submission, phases: PhaseTimes, progress: Progress, clock: bool
    ) -> Examined:
        files = {file.path: file.data for file in submission.files}
        judged, runs = self._observe_and_judge(files, phases, progress)
        if self.options.clock and runs:
            judged, runs = self._clocks().in_passing(files, runs, judged)
            if clock:
                judged, runs = self._clocks().judge(files, runs, judged)
            phases.lap("clock")
        judged = self._explained(judged, runs)
        phases.lap("explain")
        info = submission_info(submission, self.words)
        return Examined(self._report(info, judged, phases), runs)

    def _observe_and_judge(
        self, files: dict[str, bytes], phases: PhaseTimes, progress: Progress
    ) -> tuple[dict[str, Verdicts], dict[str, QuestionRun]]:
        """Return all verdicts but those that take a clock, and what they rest on."""
        not_here = self._baseline.not_here
        try:
            runs = self._observed(files, phases, progress)
            self._versions = self._versions or self._runner.versions
            # Judging reads values of the submission's making; a value that takes for ever to
            # compare must end here.
            prices = self._prices(runs)
            with self._guard.judging():
                judged = self._judged(runs, prices)
            mended = self._mended(files, runs, judged)
            with self._guard.judging():
                judged |= self._judged(mended, prices)
            runs |= mended
        except InfrastructureError as error:
            verdict = sandbox_failed(str(error))
            questions = (planned.question for planned in self.plan)
            # A fault of ours: every point pending, none lost, and nothing is kept that could be
            # judged again.
            return not_here | {each.id: for_all(each, verdict) for each in questions}, {}
        phases.lap("judge")
        # A device's fault costs nobody points, nor what an earlier submission did to the device.
        judged |= self._clocks().faults(runs)
        return not_here | judged, runs

    def _rerun(self, planned: PlannedQuestion, files: Mapping[str, bytes]) -> QuestionRun:
        run = self._runner.run([planned], files, PhaseTimes(), self.reference_runs)
        with closing(run) as events:
            return runs_of(events)[planned.question.id]

    def _mended(
        self, files: Mapping[str, bytes], runs: Runs, judged: Mapping[str, Verdicts]
    ) -> dict[str, QuestionRun]:
        """Return the questions with a slip that is no known mistake, as they come out mended."""
        found = {}
        # In a self-check nobody knows the whole answer.
        for planned in self.plan if self.mends and self.materials.reference else ():
            name = planned.question.id
            if name not in runs or not self._mender.is_due(planned, judged[name]):
                continue
            run, right = runs[name], self.reference_runs[name]
            if self.mistakes.fits(planned, run, right, self._sandbox):
                continue
            if mended := self._mender.mended(planned, files, run, right, self.mistakes):
                found[name] = replace(run, mended=mended)
        return found

    def _made(
        self, planned: PlannedQuestion, run: QuestionRun, right: QuestionRun, sandbox: Sandbox
    ) -> Made | None:
        if not self._is_wrong(planned, run, right):
            return None
        # Looked up when it is asked: whoever has mistakes explained otherwise sets them later.
        return self.mistakes.made(planned, run, right, sandbox)

    def _judged(
        self, runs: Runs, prices: Mapping[str, Price], reference: Runs | None = None
    ) -> dict[str, Verdicts]:
        against = reference or self.reference_runs
        partial = {
            each.question.id: self._partial(each.question, prices.get(each.question.id))
            for each in self.plan
        }
        return judge_all(self.plan, against, runs, self._baseline.missing, partial)

    def _partial(self, question: Question, price: Price | None) -> PartialCredit:
        # What a known mistake does is worth what its author says; in a self-check nobody has all
        # the cases.
        by_cases = price is None and self.materials.reference
        share = self.assignment.right_cases_of(question) if by_cases else 0.0
        is_paid = price is not None and (price.share or price.unknown)
        return PartialCredit(price if is_paid else None, self.assignment.partial, share)

    def _prices(self, runs: Runs) -> dict[str, Price]:
        """Return the prices of the known mistakes that a submission makes, by question id."""
        right = self.reference_runs
        wrong = {
            name: runs[name]
            for planned in self.plan
            if (name := planned.question.id) in runs
            and self._is_wrong(planned, runs[name], right[name])
        }
        return self.mistakes.prices(wrong, (self.plan, right), self._sandbox)

    def _is_wrong(self, planned: PlannedQuestion, run: QuestionRun, right: QuestionRun) -> bool:
        """Tell whether known mistakes run beside what a submission did.

        Results that are drawn, as in training, differ from the reference's in right submissions,
        too.
        """
        if same_results(run.observations, right.observations):
            return False
        with self._guard.judging():
            return has_wrong_results(planned, right, run)

    def _explained(self, judged: dict[str, Verdicts], runs: Runs) -> dict[str, Verdicts]:
        """Return the verdicts; those that a known mistake explains say so."""
        against = self.plan, self.reference_runs
        return self.mistakes.explain(judged, runs, against, self._sandbox)

    def _observed(
        self, files: dict[str, bytes], phases: PhaseTimes, progress: Progress
    ) -> dict[str, QuestionRun]:
        """Return what a submission did; report each question's result, if anybody waits for it."""
        waited_for = self.on_question is not None
        for question in self._baseline.selected:
            if verdicts := self._baseline.not_here.get(question.id):
                self._tell(question, verdicts, QuestionObserved(question.id, NOT_RUN))
        planned = {item.question.id: item for item in self.plan}
        runs: dict[str, QuestionRun] = {}
        run = self._runner.run(self.plan, files, phases, self.reference_runs, waited_for)
        with closing(run) as events:
            for event in events:
                if isinstance(event, QuestionStarted):
                    progress(event.id)
                    continue
                runs[event.id] = event.run
                item = planned[event.id]
                # What a real GPU did wrong is known at the end.
                if waited_for and not item.process.cuda:
                    own = {event.id: event.run}
                    judged = self._explained(self._judged(own, self._prices(own)), own)[event.id]
                    self._tell(item.question, judged, event, devices_name([item.process]))
        return runs

    def _tell(
        self, question: Question, verdicts: Verdicts, seen: QuestionObserved, device: str = ""
    ) -> None:
        if self.on_question is not None:
            result = build_question(self.assignment, question, verdicts, self.words, device)
            self.on_question(result, seen.run, seen.printed)

    def not_read(self, name: str, reason: str) -> Examined:
        """Return the report on a submission that this machine could not read."""
        info = SubmissionInfo(id=name)
        return Examined(self._all(info, lambda _: sandbox_failed(reason), PhaseTimes()), {})

    def not_readable(self, name: str, digest: str) -> Examined:
        """Return the report on a submission whose answers end whoever reads them."""
        verdict = failed(Code.PROTOCOL_VIOLATION, Message("protocol_violation"))
        info = SubmissionInfo(id=name, digest=digest)
        return Examined(self._all(info, lambda _: verdict, PhaseTimes()), {})

    def judge_again(self, runs: Runs, before: Report, reference: Runs | None = None) -> Report:
        """Return the report of a submission from what was observed of it; nothing runs.

        Args:
            runs: By question id; of the same plan.
            before: Its earlier report, for what does not come from judging.
            reference: What to compare with; what this run's reference did if left out.
        """
        judged = self._judged(runs, self._prices(runs), reference)
        verdicts = self._baseline.not_here | self._explained(judged, runs)
        refused = _refused(before)
        left = [
            question
            for question in self._baseline.selected
            if not (runs and question.id in verdicts) or question.id in refused
        ]
        verdicts |= _as_before(left, before)
        verdicts |= {
            question.id: received(question, _size_in(before, question))
            for question in left
            if question.document and question.id not in refused
        }
        return self._build(before.submission, verdicts, before.environment, before.timing)

    def awaits_clock(self, report: Report) -> bool:
        """Return whether timing may settle points that a report made without it left pending."""
        checks = {each.id: {check.id: check for check in each.checks} for each in report.questions}
        return self.options.clock and self._clocks().awaited(checks)

    def _clocks(self) -> Clocks:
        return Clocks(self._baseline, self._sandbox, self._screener)

    def _all(
        self, submission: SubmissionInfo, of: Callable[[str], Verdict], phases: PhaseTimes
    ) -> Report:
        known = [(each, self.assignment.file_of(each)) for each in self._baseline.selected]
        verdicts = {
            # Whatever keeps code from being graded says nothing of what a person reads.
            each.id: received(each) if each.document else for_all(each, of(file))
            for each, file in known
        }
        return self._report(submission, verdicts, phases)

    def _report(
        self, submission: SubmissionInfo, verdicts: dict[str, Verdicts], phases: PhaseTimes
    ) -> Report:
        seconds = round(time.monotonic() - phases.start, 4)
        timing = Timing(seconds=seconds, questions=phases.questions, phases=phases.phases)
        return self._build(submission, verdicts, self._environment(), timing)

    def _environment(self) -> Environment:
        """Return what a report says about the place of its run."""
        isolation = self._sandbox.isolation
        return Environment(
            torch=self._versions.get("torch", "unknown"),
            python=self._versions.get("python", "unknown"),
            platform=platform.platform(),
            device=devices_name(planned.process for planned in self.plan),
            isolation=IsolationInfo(
                tier=isolation.tier,
                mechanisms=isolation.mechanisms,
                proved={**isolation.proved, **self._baseline.proved},
            ),
            seed=self.options.seed,
            grader_version=__version__,
        )

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
            questions=frozenset(question.id for question in self._baseline.selected),
            devices={item.question.id: devices_name([item.process]) for item in self.plan},
            titles=self.materials.titles,
        )
        return build_report(self.assignment, submission, verdicts, record, self.words)


def _size_in(before: Report, question: Question) -> str | None:
    checks = (check for each in before.questions if each.id == question.id for check in each.checks)
    return next((str(size) for check in checks if (size := check.params.get("size"))), None)


def _refused(before: Report) -> set[str]:
    """Return the questions whose file was not handed in, or could not be graded."""
    return {
        question.id
        for question in before.questions
        if {check.code for check in question.checks} <= {Code.MISSING_FILE, Code.BAD_SUBMISSION}
    }


def _as_before(questions: Iterable[Question], before: Report) -> dict[str, Verdicts]:
    """Return the earlier verdict for questions whose checks all had the same one.

    They had where the submission could not be read, or where the machine failed. Other questions
    get no verdict: nothing was observed that could be judged.
    """
    known = {question.id: question.checks for question in before.questions}
    everything = [check for checks in known.values() for check in checks]
    verdicts: dict[str, Verdicts] = {}
    for question in questions:
        verdict = _shared_verdict(known.get(question.id, everything))
        if verdict is not None:
            verdicts[question.id] = for_all(question, verdict)
    return verdicts


def _shared_verdict(checks: Iterable[CheckResult]) -> Verdict | None:
    """Return the verdict that all of some checks have; None where they differ."""
    judged = [check for check in checks if check.status is not Status.SKIPPED]
    findings = {(each.status, each.code, each.message_id, each.message) for each in judged}
    if len(findings) != 1 or judged[0].status not in _OF_ALL_CHECKS:
        return None
    first = judged[0]
    message = Message(first.message_id, _params(first.params)) if first.message_id else None
    return Verdict(
        first.status, first.code, first.owner, 0.0, message, _params(first.evidence), first.basis
    )


def _params(found: Mapping[str, object]) -> Mapping[str, Param]:
    # Written as JSON and read again: what a message's parameter may be, and nothing else.
    return cast("Mapping[str, Param]", found)
