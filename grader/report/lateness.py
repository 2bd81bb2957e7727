"""What lateness takes from a score, as its student reads it.

A report says what the work is worth; what of that counts stands beside it, on pages and in
``results.json``.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.report.messages.words import Words
from grader.report.model import Report
from grader.report.summary import amount


@dataclass(frozen=True, slots=True)
class LateCost:
    """How late a submission came, and what that takes.

    Attributes:
        days: After it was due; None where nobody knows.
        attempts: Attempts beyond the free ones.
        penalty: Share of the score that all this takes; None where a person has to say.
        final: Points that count; None where something is still open.
    """

    days: float | None
    attempts: int
    penalty: float | None
    final: float | None

    def lines(self, report: Report, shown: bool, words: Words) -> list[str]:
        """Return what its student reads; nothing of what came in time and costs nothing.

        Args:
            report: What the work is worth.
            shown: The reader may know the whole score; what counts would tell it.
            words: Of the reader's language.
        """
        label = words.label
        if self.penalty is None:
            return [label("late_unknown")]
        parts = []
        if self.days and self.days > 0:
            parts.append(label("late_days", days=f"{self.days:.2f}".rstrip("0").rstrip(".")))
        if self.attempts:
            parts.append(label("late_attempts", attempts=self.attempts))
        if not parts:
            return []
        blanks = {"percent": amount(100 * self.penalty), "max": amount(report.max_score)}
        if not self.penalty:
            parts.append(label("late_free"))
        elif shown and self.final is not None:
            parts.append(label("late_counts", final=amount(self.final), **blanks))
        else:
            parts.append(label("late_takes", **blanks))
        return [" ".join(parts)]
