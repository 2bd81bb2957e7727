"""What known mistakes earn, in one table: staff agree on that before anybody is graded.

Each mistake takes its function's place in the reference, and its questions are graded with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grader.assignment.cells import KnownMistake
from grader.authoring.labelled import LintStep
from grader.authoring.shielding import earned_with
from grader.grading import Grader


@dataclass(frozen=True, slots=True)
class PriceRow:
    """What one known mistake earns in one question.

    Attributes:
        question: Its id.
        mistake: The mistake.
        points: Earned by who makes it, or pending; None where it runs into a limit.
        most: Points of the question.
    """

    question: str
    mistake: KnownMistake
    points: float | None
    most: float

    def __str__(self) -> str:
        share = "no price" if self.mistake.earns is None else f"earns {self.mistake.earns:g}"
        voids = f", voids {', '.join(sorted(self.mistake.voids))}" if self.mistake.voids else ""
        points = "–" if self.points is None else f"{round(self.points, 4):g}"
        says = next(iter(self.mistake.says.values()))
        name = f"{self.question}.{self.mistake.name}"
        return f"{name}: {points} of {self.most:g} ({share}{voids}). {says}"


def price_rows(grader: Grader, step: LintStep) -> Iterator[PriceRow]:
    """Yield what each known mistake earns, by question, the one that earns most first.

    Args:
        grader: Prepared.
        step: Called with what is tried, and how many are done of how many.
    """
    mistakes = grader.materials.mistakes
    planned = {each.question.id: each.question for each in grader.plan}
    rows = []
    for number, mistake in enumerate(mistakes):
        step("known mistakes", number, len(mistakes))
        asked = [name for name in mistake.questions if name in planned]
        points = earned_with(grader, asked, mistake)
        rows += [PriceRow(name, mistake, points.get(name), planned[name].points) for name in asked]
    order = list(planned)
    yield from sorted(rows, key=lambda row: (order.index(row.question), -(row.points or 0.0)))
