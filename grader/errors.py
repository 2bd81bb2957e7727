"""Errors that a person reads; each knows the exit status that the command line gives it.

Exit status 2 means that the request or the assignment is wrong, 1 that the infrastructure failed.
A fault in a submission is no error in this sense: it is a verdict, and the exit status stays 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


class GraderError(Exception):
    """Base of every error that the command line prints without a traceback."""

    exit_status = 1
    prefix = "error"
    """What stands before it, in the language of its sentence."""


class UsageError(GraderError):
    """The command was given something that it cannot work with."""

    exit_status = 2


class InfrastructureError(GraderError):
    """The machine, not the student or the instructor, is at fault. Never costs points."""

    exit_status = 1


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong in an instructor's file.

    Attributes:
        file: Path as the instructor would type it.
        line: 1-based, or None where no line can be named.
        where: Path inside the document, such as ``questions[0].points``.
        text: What was found, what was expected, and what to do.
    """

    file: str
    line: int | None
    where: str
    text: str

    def __str__(self) -> str:
        position = self.file if self.line is None else f"{self.file}:{self.line}"
        return (
            f"{position}: {self.where}: {self.text}" if self.where else f"{position}: {self.text}"
        )


class AssignmentError(GraderError):
    """An assignment is broken; lists every problem found, not only the first."""

    exit_status = 2

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def nearest_name(word: str, known: Iterable[str], likeness: float = 0.5) -> str:
    """Return the known word nearest to ``word``, or an empty string.

    Args:
        word: What was found, or wanted.
        known: The words to choose from.
        likeness: How alike they must be, from 0 to 1.
    """
    matches = get_close_matches(word, list(known), n=1, cutoff=likeness)
    return matches[0] if matches else ""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``'; did you mean “x”?'`` for the nearest known word, or an empty string."""
    name = nearest_name(word, known)
    return f"; did you mean “{name}”?" if name else ""
