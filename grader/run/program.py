"""What runs in a guest, and what the guest may take for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.assignment.types import Limits
from grader.sandbox.host.guests import GuestLimits, GuestNeeds
from grader.wire.messages import Load

_MOST_CASES = 60
"""Cases that may use up their limit in one guest before the kernel ends it."""


@dataclass(frozen=True, slots=True)
class Program:
    """What runs in a guest: a submission, or the reference.

    Attributes:
        files: Path → content.
        module: File among them whose functions are called.
        support: Read-only files beside them.
        modules: Library's module → file among ``support`` that stands in where it is missing.
        given: Source of the instructor's functions that run beside the submission, or empty.
        stage: Source of the instructor's scenarios, or empty.
    """

    files: Mapping[str, bytes]
    module: str
    support: Mapping[str, bytes] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)
    given: str = ""
    stage: str = ""

    def load(self, needs: GuestNeeds) -> Load:
        """The message that puts it into a guest, virtual GPUs first."""
        return Load(
            dict(self.files),
            self.module,
            dict(self.support),
            needs.virtual,
            needs.virtual_memory_mb,
            dict(self.modules),
            self.given,
            self.stage,
        )


def guest_limits(limits: Limits) -> GuestLimits:
    """Limits of the assignment file in the units that a sandbox takes."""
    return GuestLimits(
        memory=limits.memory_mb * 2**20,
        output=limits.output_kb * 2**10,
        processes=limits.processes,
        scratch=limits.scratch_mb * 2**20,
        # A backstop for each process: one guest runs many cases, each with its own deadline.
        cpu_seconds=int(_MOST_CASES * limits.seconds + limits.import_seconds) + 60,
    )
