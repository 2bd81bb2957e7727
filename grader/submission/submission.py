"""A hand-in as bytes and digests. Nothing in it has been, or will here be, executed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

from grader.submission.cells import CellMap
from grader.verdict import Code, Message


class IntakeError(Exception):
    """The hand-in cannot be graded as it is; the student's verdict, not a grader's error.

    Attributes:
        code: ``missing_file`` or ``bad_submission``.
        message: What was looked for, what was found, and what to do.
    """

    def __init__(self, code: Code, message: Message) -> None:
        super().__init__(message.id)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class SubmittedFile:
    """One file of a hand-in.

    Attributes:
        path: POSIX path as the assignment's ``hand_in`` names it.
        data: Content.
        origin: Where it came from inside the hand-in (``hw1.zip/pytorch101.ipynb``), for messages.
        cells: Which notebook cell each line came from, if it was a notebook.
    """

    path: str
    data: bytes
    origin: str
    cells: CellMap | None = None

    @cached_property
    def sha256(self) -> str:
        """Hex digest of the content."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Submission:
    """What a student handed in, narrowed to the files that the assignment names.

    Attributes:
        id: Name for folders and tables.
        files: In the order of the assignment's ``hand_in``.
        notes: What intake did that the student should know (a notebook was converted, …).
    """

    id: str
    files: tuple[SubmittedFile, ...]
    notes: tuple[Message, ...] = ()

    @cached_property
    def digest(self) -> str:
        """Hex digest over names and contents; equal for identical hand-ins."""
        total = hashlib.sha256()
        for file in self.files:
            total.update(f"{file.path}\0{file.sha256}\n".encode())
        return total.hexdigest()
