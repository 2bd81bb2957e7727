"""What surrounds the reading and the judging of a submission's answers.

The worker of a class notes there what it is at, and bounds the processor time that it takes: should
it die, whoever gave the work out knows over what (``grader.batch.local``).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

Surrounding = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Care:
    """Contexts for work on what a submission said.

    Attributes:
        reading: Around the reading of each answer.
        judging: Around the judging of all.
    """

    reading: Surrounding = nullcontext
    judging: Surrounding = nullcontext


NO_CARE = Care()
