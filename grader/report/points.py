"""Credit becomes points. The one place where a number that a judge made is let into a grade.

Sums are made from exact shares and rounded once, so that three checks of a third make one whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from grader.errors import InfrastructureError
from grader.verdict import Owner, Status, Verdict

PLACES = 4
_CREDIT = {
    Status.PASSED: (1.0, 1.0),
    Status.PARTIAL: (0.0, 1.0),
    Status.FAILED: (0.0, 0.0),
    Status.SKIPPED: (0.0, 0.0),
    Status.DEFERRED: (0.0, 0.0),
    Status.ERROR: (0.0, 0.0),
}
"""Least and greatest credit that goes with a status."""


@dataclass(frozen=True, slots=True)
class Points:
    """Points of one check, or of several; the rest up to ``maximum`` is lost."""

    earned: float = 0.0
    pending: float = 0.0
    maximum: float = 0.0

    def fields(self) -> dict[str, float]:
        """Return the report's three fields, rounded."""
        maximum = round(self.maximum, PLACES)
        earned = min(round(self.earned, PLACES) + 0.0, maximum)
        pending = min(round(self.pending, PLACES), round(maximum - earned, PLACES))
        return {"score": earned, "max_score": maximum, "pending": pending + 0.0}


def total(parts: Iterable[Points]) -> Points:
    """Return the sum."""
    known = list(parts)
    return Points(
        math.fsum(part.earned for part in known),
        math.fsum(part.pending for part in known),
        math.fsum(part.maximum for part in known),
    )


def points_of(where: str, verdict: Verdict, worth: float) -> Points:
    """Return what a verdict is worth.

    What is not earned is lost only where it is the student's doing; otherwise it stays pending.

    Args:
        where: The check, for the error.
        verdict: Its verdict.
        worth: Points for full credit.

    Raises:
        InfrastructureError: The credit is no number in 0…1, or contradicts the status.
    """
    credit = verdict.credit
    low, high = _CREDIT[verdict.status]
    # “not … <= …” and not “… > …”: a NaN compares false with everything.
    if not isinstance(credit, (int, float)) or not low <= credit <= high:
        raise InfrastructureError(
            f"check {where}: credit {credit!r} does not go with the status "
            f"“{verdict.status.value}”; this is a fault in the judge, not in the hand-in"
        )
    earned = credit * worth
    return Points(earned, 0.0 if _is_lost(verdict) else worth - earned, worth)


def _is_lost(verdict: Verdict) -> bool:
    if verdict.status in (Status.DEFERRED, Status.ERROR):
        return False
    if verdict.status is Status.SKIPPED:
        return verdict.owner is Owner.STUDENT
    return verdict.owner not in (Owner.INSTRUCTOR, Owner.INFRASTRUCTURE)
