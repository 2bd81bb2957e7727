"""How long the phases of a grading took."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from grader.report.model import Timing


@dataclass
class Watch:
    """Wall time by phase and by question, in seconds."""

    start: float = field(default_factory=time.monotonic)
    phases: dict[str, float] = field(default_factory=dict)
    questions: dict[str, float] = field(default_factory=dict)

    def lap(self, phase: str) -> None:
        """End a phase that began with the end of the one before."""
        spent = sum(self.phases.values())
        self.phases[phase] = round(time.monotonic() - self.start - spent, 4)

    def timing(self) -> Timing:
        """Return what a report says of it."""
        seconds = round(time.monotonic() - self.start, 4)
        return Timing(seconds=seconds, questions=self.questions, phases=self.phases)
