"""The clocks of this machine, for one assignment: the CPU's, and a GPU's if there is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.observation import Timing
from grader.report.model import Report
from grader.run.clocked import Clock, judge_with_times, wants_screen, wants_timing
from grader.run.device_times import DeviceClock, OpenRack, wants_device
from grader.run.materials import Materials
from grader.run.observe import QuestionRun
from grader.run.plan import PlannedQuestion
from grader.run.screening import Screener
from grader.run.submitted import Verdicts
from grader.run.timed import Subject, Timer
from grader.sandbox.host.guests import Sandbox


@dataclass(frozen=True, slots=True)
class Clocks:
    """Times what is graded on its speed.

    Attributes:
        materials: The assignment and its files.
        sandbox: Where submissions and reference run.
        seed: Of all drawn inputs.
        racks: Finds the GPUs that speed is measured on.
        screener: Settles in passing what is clear.
        plan: What was called.
        reference: What came of it for the reference, by question id.
    """

    materials: Materials
    sandbox: Sandbox
    seed: int
    racks: OpenRack
    screener: Screener
    plan: Sequence[PlannedQuestion]
    reference: Mapping[str, QuestionRun]

    def in_passing(
        self,
        files: Mapping[str, bytes],
        runs: Mapping[str, QuestionRun],
        judged: Mapping[str, Verdicts],
    ) -> tuple[dict[str, Verdicts], dict[str, QuestionRun]]:
        """Return what ``judge`` does, settled where a few short blocks are enough for that."""
        limits_of = self.materials.assignment.limits_of

        def here(planned: PlannedQuestion, entry: str) -> Timing | None:
            subject = Subject(planned, entry, files, limits_of(planned.question))
            return self.screener.screen(subject)

        clock = Clock(wants_screen, here)
        return judge_with_times(self.plan, self.reference, runs, judged, clock)

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
        for clock in self._clocks(files):
            verdicts, timed = judge_with_times(self.plan, self.reference, timed, verdicts, clock)
        return verdicts, timed

    def faults(self, runs: Mapping[str, QuestionRun]) -> dict[str, Verdicts]:
        """Return verdicts for what a device did to a hand-in; that costs nobody points."""
        return self._device().faults(self.plan, runs)

    def awaited(self, report: Report) -> bool:
        """Return whether timing may settle points that a report made without it left pending."""
        checks = {q.id: {check.id: check for check in q.checks} for q in report.questions}
        wanted = [wants_timing, *([wants_device] if self._device().available else [])]
        return any(
            wants(planned, checks[planned.question.id]) for wants in wanted for planned in self.plan
        )

    def _clocks(self, files: Mapping[str, bytes]) -> Iterator[Clock]:
        limits_of = self.materials.assignment.limits_of
        timer = Timer(self.materials, self.sandbox, self.seed)

        def here(planned: PlannedQuestion, entry: str) -> Timing:
            return timer.time(Subject(planned, entry, files, limits_of(planned.question)))

        yield Clock(wants_timing, here)
        device = self._device()

        def there(planned: PlannedQuestion, entry: str) -> Timing:
            ours = self.reference[planned.question.id].entry
            return device.time(planned, entry, ours or entry, files)

        if device.available:
            yield Clock(wants_device, there)

    def _device(self) -> DeviceClock:
        return DeviceClock(self.materials, self.sandbox, self.seed, self.racks)
