"""Which hand-ins a GPU worker takes: those that an earlier batch found nothing wrong with.

A GPU is dear, and a guest on it reaches the driver. So a submission comes there only for questions
that wait for a device, and only if everything else about them has passed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.batch.discover import Found, HandIn
from grader.batch.merge import read_folder
from grader.errors import UsageError
from grader.report.merge import waits_for_device
from grader.report.model import Report


@dataclass(frozen=True, slots=True)
class Waiting:
    """What is left to do.

    Attributes:
        found: The submissions that wait for a device; none where there is nothing to do.
        questions: Ids of the questions that any of them waits with.
    """

    found: Found
    questions: tuple[str, ...]


def waiting(found: Found, folder: Path, assignment: str) -> Waiting:
    """Return what an earlier batch left for a machine with a GPU.

    Args:
        found: All hand-ins.
        folder: ``--out`` of the earlier batch.
        assignment: Id of the assignment.

    Raises:
        UsageError: The folder holds no reports, or of another assignment.
    """
    earlier = read_folder(folder)
    for report in earlier.values():
        if report.assignment.id != assignment:
            raise UsageError(
                f"--only-pending {folder}: holds reports on “{report.assignment.id}”, not on "
                f"“{assignment}”"
            )
    left = {hand_in: _questions(hand_in, earlier) for hand_in in found.hand_ins}
    taken = tuple(hand_in for hand_in, questions in left.items() if questions)
    asked = dict.fromkeys(name for questions in left.values() for name in questions)
    return Waiting(Found(taken, found.left_out), tuple(asked))


def _questions(hand_in: HandIn, earlier: Mapping[str, Report]) -> tuple[str, ...]:
    report = earlier.get(hand_in.name)
    if report is None:
        return ()
    return tuple(question.id for question in report.questions if waits_for_device(question))
