"""Which functions are timed, by which clock, and their verdicts anew once they were.

Timing comes after everything else of a submission, and only for what the checks that it rests on
let through. A screen in passing takes 20 ms; the careful stage and a GPU take seconds, where all
the rest of a submission takes half of one. So they come last, and for what the screen left open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from grader.assignment.types import Limits
from grader.checks.base import Check
from grader.checks.judge import required
from grader.checks.speed import speed_tests
from grader.errors import InfrastructureError
from grader.observation import FunctionTiming
from grader.run.baseline import Baseline
from grader.run.gpu_worker import suspicious
from grader.run.gpus import Rack
from grader.run.judge_submission import Verdicts, for_all, judge_question
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedQuestion
from grader.run.prices import is_priced
from grader.run.timing.full_measurement import FullTimer
from grader.run.timing.gpu import GpuTimer
from grader.run.timing.quick_screen import Screener
from grader.run.timing.stopwatch import Subject
from grader.sandbox.host.processes import Sandbox
from grader.verdict import Code, Message, Owner, Status, Verdict, fault


class Judged(Protocol):
    """A verdict, or what a report says of one."""

    @property
    def status(self) -> Status:
        """Status of the check."""

    @property
    def code(self) -> Code:
        """Why."""


@dataclass(frozen=True, slots=True)
class _Way:
    """One way of timing.

    Attributes:
        wants: Tells whether a question is to be timed, by its verdicts so far.
        time: Times its function; None where that tells nothing.
    """

    wants: Callable[[PlannedQuestion, Verdicts], bool]
    time: Callable[[Subject], FunctionTiming | None]


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clocks of this machine, for one assignment: the processor's, and a GPU's if there is one.

    Attributes:
        baseline: What submissions are compared with.
        sandbox: Where submissions and reference run.
        screener: Settles in passing what is clear.
    """

    baseline: Baseline
    sandbox: Sandbox
    screener: Screener

    def in_passing(
        self,
        files: Mapping[str, bytes],
        runs: Mapping[str, QuestionRun],
        judged: Mapping[str, Verdicts],
    ) -> tuple[dict[str, Verdicts], dict[str, QuestionRun]]:
        """Return what ``judge`` does, settled where a few short blocks are enough for that."""
        return self._judged(_Way(wants_screen, self.screener.screen), files, runs, judged)

    def judge(
        self,
        files: Mapping[str, bytes],
        runs: Mapping[str, QuestionRun],
        judged: Mapping[str, Verdicts],
    ) -> tuple[dict[str, Verdicts], dict[str, QuestionRun]]:
        """Return all verdicts and runs, those of questions that had to be timed made anew.

        Args:
            files: Of the submission.
            runs: What was observed of it without times.
            judged: Verdicts without times.
        """
        verdicts, timed = dict(judged), dict(runs)
        full = FullTimer(self.baseline.materials, self.sandbox, self.baseline.seed)
        ways = [_Way(wants_timing, full.time)]
        if self._rack() is not None:
            ways.append(_Way(wants_device, self._on_device))
        for way in ways:
            # On what the way before has left: a question that it settled is not timed again.
            verdicts, timed = self._judged(way, files, timed, verdicts)
        return verdicts, timed

    def faults(self, runs: Mapping[str, QuestionRun]) -> dict[str, Verdicts]:
        """Return verdicts for questions that met a device which is not well; they cost nothing.

        A submission that runs into an error of CUDA may have met what an earlier one left behind.
        """
        met = [
            planned.question
            for planned in self.baseline.plan
            if planned.process.cuda
            and any(map(suspicious, runs[planned.question.id].observations.values()))
        ]
        rack = self._rack() if met else None
        if rack is None:
            return {}
        try:
            sick = rack.sick()
        except InfrastructureError as error:
            sick = [str(error)]
        reason = Message("speed_device_failed", {"detail": "; ".join(sick)})
        verdict = fault(Code.DEVICE_FAILED, Owner.INFRASTRUCTURE, reason)
        return {question.id: for_all(question, verdict) for question in met} if sick else {}

    def awaited(self, checks: Mapping[str, Mapping[str, Judged]]) -> bool:
        """Return whether timing may settle what was judged without it.

        Args:
            checks: Question → check → its verdict.
        """
        wanted = [wants_timing, *([wants_device] if self._rack() is not None else [])]
        return any(
            wants(planned, checks[planned.question.id])
            for wants in wanted
            for planned in self.baseline.plan
        )

    def _on_device(self, subject: Subject) -> FunctionTiming:
        rack = self._rack(subject.limits)
        if rack is None:
            return FunctionTiming(skipped="speed_no_device")
        return GpuTimer(self.baseline.materials, rack, self.baseline.seed).time(subject)

    def _rack(self, limits: Limits | None = None) -> Rack | None:
        limits = limits or self.baseline.materials.assignment.limits
        return self.baseline.racks(self.sandbox, limits)

    def _judged(
        self,
        way: _Way,
        files: Mapping[str, bytes],
        runs: Mapping[str, QuestionRun],
        judged: Mapping[str, Verdicts],
    ) -> tuple[dict[str, Verdicts], dict[str, QuestionRun]]:
        """Return all verdicts and runs, those of questions that had to be timed made anew."""
        verdicts, timed = dict(judged), dict(runs)
        limits_of = self.baseline.materials.assignment.limits_of
        for planned in self.baseline.plan:
            name = planned.question.id
            run, reference = runs[name], self.baseline.runs[name]
            if run.entry is None or not way.wants(planned, judged[name]):
                continue
            # What a known mistake returns is wrong where it is timed, too: a person decides.
            if is_priced(judged[name]):
                continue
            entry, ours = run.entry, reference.entry or run.entry
            timing = way.time(Subject(planned, entry, ours, files, limits_of(planned.question)))
            if timing is not None:
                observations = {
                    key: replace(item, facts=replace(item.facts, timing=timing))
                    for key, item in run.observations.items()
                }
                timed[name] = replace(run, observations=observations)
                # Judged again as a whole: time may settle a check on loops, and others may rest on
                # it.
                verdicts[name] = judge_question(planned, reference, timed[name])
        return verdicts, timed


def wants_timing(planned: PlannedQuestion, verdicts: Mapping[str, Judged]) -> bool:
    """Return whether a question's function is to be timed with care, after all else was judged.

    Only where speed is graded: a doubt about a loop alone is not worth seconds of a whole machine.

    Args:
        planned: The question.
        verdicts: Of its checks, by id, without times.
    """
    checks = planned.question.checks
    graded = [check for check, _ in speed_tests(checks, on_device=False)]
    if planned.question.timed is None or not graded:
        return False
    # The third witness is asked where the other two disagree.
    if any(verdicts[check.id].code is Code.NEEDS_REVIEW for check in _no_loops(planned)):
        return True
    for check in graded:
        if verdicts[check.id].code is Code.NOT_TIMED:
            rests_on = (verdicts[name] for name in required(check, checks))
            # A wrong answer earns nothing for its speed; seconds of the whole machine are not spent
            # on it.
            if all(item.status.earned for item in rests_on):
                return True
    return False


def wants_screen(planned: PlannedQuestion, verdicts: Verdicts) -> bool:
    """Return whether a question's function is to be timed in passing.

    Besides what ``wants_timing`` says: where the text of the function leaves a doubt about a loop,
    and where the word of its process is not taken.

    Args:
        planned: The question.
        verdicts: Of its checks, by id, without times.
    """
    if planned.question.timed is None:
        return False
    doubts = (verdicts[check.id] for check in _no_loops(planned))
    return any(map(_doubtful, doubts)) or wants_timing(planned, verdicts)


def _no_loops(planned: PlannedQuestion) -> list[Check]:
    return [check for check in planned.question.checks if check.hears_time()]


def _doubtful(verdict: Verdict) -> bool:
    words = {(witness.name, witness.says) for witness in verdict.witnesses}
    unread = verdict.code is Code.OK and ("source", "unclear") in words
    return unread or verdict.code is Code.NEEDS_REVIEW


def wants_device(planned: PlannedQuestion, verdicts: Mapping[str, Judged]) -> bool:
    """Return whether a question's function is to be timed on a device.

    Args:
        planned: The question.
        verdicts: Of its checks, by id, without times.
    """
    checks = planned.question.checks
    # Cases that are too large for this machine's way of running the question are not planned.
    there = {case.case.id for case in planned.cases}
    return any(
        test.case in there
        and verdicts[check.id].code is Code.NO_DEVICE
        and all(verdicts[name].status.earned for name in required(check, checks))
        for check, test in speed_tests(checks, on_device=True)
    )
