"""What whoever grades may choose."""

from __future__ import annotations

from dataclasses import dataclass

from grader.assignment.types import Assignment, Question
from grader.errors import UsageError, nearest
from grader.run.devices import DeviceChoice


@dataclass(frozen=True, slots=True)
class Options:
    """What whoever grades may choose.

    Attributes:
        seed: Of all drawn inputs; recorded in the report.
        device: ``auto`` takes real GPUs for the questions that can have them and virtual ones for
            the others, ``cpu`` none of either, ``virtual`` no real ones, ``cuda`` no virtual ones.
        questions: Ids to grade; all where empty.
        clock: Time what is graded on its speed; else those points stay pending.
    """

    seed: int
    device: DeviceChoice = "auto"
    questions: tuple[str, ...] = ()
    clock: bool = False

    def selected(self, assignment: Assignment) -> tuple[Question, ...]:
        """Return the questions to grade.

        Raises:
            UsageError: One that was asked for does not exist.
        """
        known = {question.id: question for question in assignment.questions}
        for name in self.questions:
            if name not in known:
                raise UsageError(
                    f"“{assignment.id}” has no question “{name}”{nearest(name, known) or '.'} "
                    f"Its questions: {', '.join(known)}"
                )
        return tuple(
            q for q in assignment.questions if not self.questions or q.id in self.questions
        )
