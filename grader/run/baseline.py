"""What every submission is compared with: the inputs, and what the reference did with them.

The reference runs once for a class, or not at all where an earlier run's observations fit. What
this machine cannot grade is found out before that.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from grader.assignment.types import Question
from grader.checks import by_hand
from grader.errors import InfrastructureError
from grader.run.answers import KeptAnswers, answers_of
from grader.run.baseline_file import (
    GeneratorReplay,
    KeptReference,
    ReferenceCache,
    keep,
    processes_of,
)
from grader.run.capabilities import Options, lacking, missing_packages, resolve, usable_gpus
from grader.run.gpus import OpenRack, ProveGpus, no_rack, open_rack, prove_gpus, scrub_gpus
from grader.run.judge_submission import Verdicts, for_all, left_to_grading
from grader.run.materials import Materials
from grader.run.observe import Progress, QuestionRun
from grader.run.plan import PlannedQuestion, plan_digests
from grader.run.proving import Prover
from grader.run.reference import Reference, plan_all
from grader.run.scenario_relay import open_session
from grader.sandbox.host.processes import Gpu, ProcessSpec, Sandbox
from grader.verdict import Verdict


class Baseline:
    """Inputs and reference observations of one assignment on this machine.

    Attributes:
        materials: The assignment and its files.
        selected: Questions that were asked for.
        plan: What is called; the questions that this machine can grade.
        runs: What the reference did, by question id.
        not_here: Question → verdicts that say why this machine cannot grade it.
        missing: Packages that student processes cannot import → why.
        versions: What the reference's process said of its torch and Python.
        proved: What a probe process met on the GPUs.
        gpu_memory: Host memory that each process with a GPU is allowed for its driver, in bytes;
            None where no probe has measured it.
        racks: Finds the GPUs that speed is measured on.
        notes: What whoever grades has to know of this run.
        cache: Where observations are kept from one run to the next, if anywhere.

    Args:
        materials: The assignment and its files.
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
        options: Options,
        racks: OpenRack = open_rack,
        prove: ProveGpus = prove_gpus,
    ) -> None:
        self.materials = materials
        self.selected = options.selected(materials.assignment)
        self.plan: tuple[PlannedQuestion, ...] = ()
        self.runs: dict[str, QuestionRun] = {}
        self.not_here: dict[str, Verdicts] = {}
        self.missing: dict[str, str] = {}
        self.versions: dict[str, str] = {}
        self.proved: Mapping[str, str] = {}
        self.gpu_memory: int | None = None
        self.racks = no_rack if options.device in ("cpu", "virtual") else racks
        self.notes: tuple[str, ...] = ()
        self.cache: ReferenceCache | None = None
        self._answers: KeptAnswers | None = None
        self._options = options
        self._prove = prove
        self._gpus: Sequence[Gpu] = usable_gpus(options.device)

    @property
    def _coded(self) -> list[Question]:
        # Nothing is run for a question whose file a person reads.
        return [question for question in self.selected if not question.document]

    @property
    def seed(self) -> int:
        """Of all drawn inputs."""
        return self._options.seed

    @property
    def answers(self) -> KeptAnswers:
        """What the reference did, as a journal keeps it."""
        self._answers = self._answers or answers_of(self.runs)
        return self._answers

    def prepare(self, sandbox: Sandbox, progress: Progress) -> None:
        """Draw the inputs and run the reference on them.

        Raises:
            AssignmentError: The reference, a generator or a scenario does not do what it should.
            InfrastructureError: No student process can be started, or none can use the GPU that was
                insisted on.
        """
        # First: whether GPUs work decides what each question needs, and so which kept answers fit.
        self._settle_gpus(sandbox)
        if self.cache is not None and self._take(sandbox, self.cache.load(self.seed)):
            return
        gradable = self._gradable(sandbox)
        session = open_session(sandbox, self.materials, self.materials.reference)
        try:
            reference = Reference(self.materials, session, progress)
            self.plan, runs = reference.run(self._coded, gradable, self.seed)
        finally:
            session.finish()
        prover = Prover(self.materials, sandbox, self.seed)
        try:
            # What the reference's own logs show, a submission's are to show, too.
            self.runs = prover.proved(self.plan, runs, runs)
        finally:
            prover.close()
        if any(planned.process.cuda for planned in self.plan):
            # The reference's answers may still be in the GPU's memory, which the next process could
            # read.
            scrub_gpus(sandbox, self._gpus, self.materials.assignment.limits)
        elif self.cache is not None:
            # Not after GPUs were used: an entry's name says nothing of card and driver.
            generated = reference.generate.generated
            self.cache.store(self.seed, keep(self.plan, self.runs, generated, self.missing))
        self.versions = session.versions

    def adopt(
        self, sandbox: Sandbox, plan: Sequence[PlannedQuestion], runs: Mapping[str, QuestionRun]
    ) -> None:
        """Take inputs and observations as they were kept; ``prepare`` is not due.

        A selected question that the plan does not have is left pending.

        Args:
            sandbox: Where submissions run.
            plan: The inputs.
            runs: What the reference did with them, by question id.
        """
        planned = {item.question.id: item for item in plan}
        gradable = self._gradable(sandbox)
        for question in self.selected:
            if question.id in gradable and question.id not in planned:
                self.not_here[question.id] = for_all(question, left_to_grading())
        self.plan = tuple(
            replace(planned[name], process=spec)
            for name, spec in gradable.items()
            if name in planned
        )
        self.runs = dict(runs)

    def only(self, questions: Collection[str]) -> Baseline:
        """Return the same with the calls of some questions alone."""
        part = copy.copy(self)
        part.plan = tuple(item for item in self.plan if item.question.id in questions)
        return part

    def without(self, verdicts: Mapping[str, Verdicts]) -> Baseline:
        """Return the same without the calls of questions whose verdicts are known."""
        part = copy.copy(self)
        part.plan = tuple(item for item in self.plan if item.question.id not in verdicts)
        part.not_here = {**self.not_here, **verdicts}
        return part

    def _take(self, sandbox: Sandbox, kept: KeptReference | None) -> bool:
        """Take what the reference did in an earlier run; False where that does not fit this one."""
        if kept is None:
            return False
        gradable, reasons = self._resolved(sandbox, kept.missing)
        draw = self.seed, GeneratorReplay(kept.generated)
        plan, problems = plan_all(self.materials, self._coded, gradable, draw)
        # Drawn anew and compared, not trusted: kept answers to other inputs would fail every
        # submission.
        if problems or processes_of(plan) != kept.processes or plan_digests(plan) != kept.digests:
            return False
        if set(kept.runs) != set(gradable) or any(item.process.cuda for item in plan):
            return False
        self.missing, self.runs = dict(kept.missing), dict(kept.runs)
        self._note_reasons(reasons)
        self.plan = tuple(plan)
        return True

    def _gradable(self, sandbox: Sandbox) -> dict[str, ProcessSpec]:
        """Return what questions' processes get here; note why some cannot be graded."""
        # Of all questions: a submission imports them whether or not those are selected.
        self.missing = missing_packages(sandbox, self.materials.assignment.questions)
        gradable, reasons = self._resolved(sandbox, self.missing)
        self._note_reasons(reasons)
        return gradable

    def _resolved(
        self, sandbox: Sandbox, missing: Mapping[str, str]
    ) -> tuple[dict[str, ProcessSpec], dict[str, Verdict]]:
        """Return question → what its process gets, and question → why it is not graded here."""
        gradable: dict[str, ProcessSpec] = {}
        not_here: dict[str, Verdict] = {}
        assignment, device = self.materials.assignment, self._options.device
        for question in self._coded:
            resolved = lacking(question, missing) or resolve(
                assignment, question, device, len(self._gpus), sandbox.grants
            )
            if isinstance(resolved, ProcessSpec):
                gradable[question.id] = resolved
            else:
                not_here[question.id] = resolved
        return gradable, not_here

    def _note_reasons(self, reasons: Mapping[str, Verdict]) -> None:
        for question in self.selected:
            if question.id in reasons:
                self.not_here[question.id] = for_all(question, reasons[question.id])

    def allow_gpu_memory(self, sandbox: Sandbox) -> None:
        """Have a sandbox allow for what the probe has measured."""
        if self.gpu_memory is not None:
            sandbox.gpu_memory = self.gpu_memory

    def _settle_gpus(self, sandbox: Sandbox) -> None:
        """Have student processes show that they can use the GPUs, if any question asks for one."""
        wanted = any(item.needs.cuda and not item.needs.timeline for item in self.selected)
        if not (self._gpus and wanted):
            return
        proof = self._prove(sandbox, self._gpus, self.materials.assignment.limits)
        self.proved = proof.proved
        self.gpu_memory = proof.gpu_memory
        self.allow_gpu_memory(sandbox)
        if not proof.failed:
            return
        explanation = proof.explanation(sandbox.isolation.tier.value)
        if self._options.device == "cuda":
            raise InfrastructureError(f"--device cuda: {explanation}")
        self.notes = (f"GPU questions are graded on virtual GPUs: {explanation}",)
        self._gpus, self.racks = (), no_rack


def received(question: Question, size: str | None = None) -> Verdicts:
    """Return the verdicts of a question on a file that a person reads: all points wait for them.

    Args:
        question: Whose checks are all ``by_hand``.
        size: Of what was handed in, where that is known.
    """
    return by_hand.received(question.checks, question.file if size else None, size)
