"""A submission as bytes and digests, what is found in it, and how much it may ask of the machine.

Nothing in it has been executed, or will be here.
"""

from __future__ import annotations

import hashlib
import re
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import PurePosixPath
from types import MappingProxyType

from grader.verdict import Code, Message, Param, Verdict, failed

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on what is read; every one counts real bytes, never what a header claims.

    Attributes:
        entries: Files and folders looked at, those of ``__MACOSX`` and the like left out.
        headers: Entries of any kind that an archive may list at all.
        file_bytes: Largest wanted file that is no source.
        source_bytes: Largest ``.py``, and the code of a notebook; source is read line by line.
        tar_extras: Bytes of a tar archive's extension headers, all together.
        notebook_bytes: Largest notebook; its outputs count here, though nobody looks at them.
        notebook_items: JSON strings, and JSON commas and brackets, of a notebook. Guards memory:
            an empty list takes two bytes in the file and thirty times as many once parsed.
        cells: Code cells of a notebook.
        total_bytes: Largest archive, its largest unpacked size, and all wanted files together.
        ratio: Times that content may grow when unpacked …
        ratio_from: … once it is larger than this.
        depth: Parts of a path.
        name_length: Characters of one part of a path.
    """

    entries: int = 2000
    headers: int = 50_000
    file_bytes: int = 20 * MIB
    source_bytes: int = 4 * MIB
    tar_extras: int = 8 * MIB
    notebook_bytes: int = 32 * MIB
    notebook_items: int = 2_000_000
    cells: int = 2000
    total_bytes: int = 100 * MIB
    ratio: int = 200
    ratio_from: int = MIB
    depth: int = 16
    name_length: int = 255

    def unpacked(self, packed: int) -> int:
        """Return the most bytes that ``packed`` bytes may become."""
        return max(self.ratio_from, self.ratio * packed)

    def largest(self, path: str) -> int:
        """Return the most bytes that a file of this name may hold."""
        by_suffix = {".py": self.source_bytes, ".ipynb": self.notebook_bytes}
        return by_suffix.get(PurePosixPath(path).suffix.lower(), self.file_bytes)


@dataclass(frozen=True, slots=True)
class CellMap:
    """Where the code cells of a notebook begin in the file made from it.

    Attributes:
        first_lines: 1-based line of each code cell's first line, in order.
    """

    first_lines: tuple[int, ...]

    def cell_of(self, line: int) -> tuple[int, int] | None:
        """Return (code cell, line in it), both from 1, or None for a line before all cells."""
        index = bisect_right(self.first_lines, line) - 1
        return None if index < 0 else (index + 1, line - self.first_lines[index] + 1)

    def lines_of(self, cell: int) -> range:
        """Return the lines of a code cell, without the comment that announces the next one."""
        first, after = self.first_lines[cell - 1], self.first_lines[cell : cell + 1]
        return range(first, after[0] - 1 if after else sys.maxsize)


class IntakeError(Exception):
    """The submission cannot be graded as it is; the student's verdict, not a grader's error.

    Attributes:
        code: ``missing_file`` or ``bad_submission``.
        message: What was looked for, what was found, and what to do.
        parts: File with questions → why it cannot be graded, where each has a cause of its own.
    """

    def __init__(
        self,
        code: Code,
        message: Message,
        parts: Mapping[str, IntakeError] = MappingProxyType({}),
    ) -> None:
        super().__init__(message.id)
        self.code = code
        self.message = message
        self.parts = parts

    def verdict_of(self, file: str) -> Verdict:
        """Return the verdict on what is asked for in a file."""
        part = self.parts.get(file, self)
        return failed(part.code, part.message)


@dataclass(frozen=True)
class SubmittedFile:
    """One file of a submission.

    Attributes:
        path: POSIX path as the assignment's ``hand_in`` names it.
        data: Content.
        origin: Where it came from, for messages, such as ``hw1.zip/pytorch101.ipynb``.
        cells: Which notebook cell each line came from, if it was a notebook.
    """

    path: str
    data: bytes
    origin: str
    cells: CellMap | None = None

    @property
    def notebook(self) -> str:
        """Name of the notebook that it was made from; empty if it was none."""
        return PurePosixPath(self.origin).name if self.cells else ""

    @property
    def size(self) -> str:
        """How large it is, in words."""
        count = len(self.data)
        if count < 1000:
            return f"{count} bytes"
        return f"{count / 1e3:.1f} kB" if count < 10**6 else f"{count / 1e6:.1f} MB"

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
        documents: Files that a person reads; nothing else is done with them.
        refused: File with questions that is not among ``files``, because it is missing or cannot
            be graded as it is → why.
    """

    id: str
    files: tuple[SubmittedFile, ...]
    notes: tuple[Message, ...] = ()
    refused: Mapping[str, IntakeError] = field(default_factory=dict)
    documents: tuple[SubmittedFile, ...] = ()

    @cached_property
    def digest(self) -> str:
        """Hex digest over names and contents; equal for identical submissions."""
        total = hashlib.sha256()
        for file in (*self.files, *self.documents):
            total.update(f"{file.path}\0{file.sha256}\n".encode())
        for path, error in self.refused.items():
            # The same files beside one that is missing and one that is damaged: two messages.
            total.update(f"{path}\0{error.message.id}\n".encode())
        return total.hexdigest()


SHOWN_LENGTH = 80
_IGNORED = frozenset({"__MACOSX", ".DS_Store", "__pycache__", ".git", ".ipynb_checkpoints"})
_DRIVE = re.compile(r"[A-Za-z]:")


def bad(message_id: str, **params: Param) -> IntakeError:
    """Return the error for a submission that cannot be graded as it is."""
    return IntakeError(Code.BAD_SUBMISSION, Message(message_id, params))


def show(name: str) -> str:
    """Return ``name`` fit for a message: one line, no control characters, of bounded length.

    Direction overrides and lone surrogates are not printable either, so they are escaped too.
    """
    cut = name if len(name) <= SHOWN_LENGTH else name[: SHOWN_LENGTH - 1] + "…"
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in cut)


def composed(name: str) -> str:
    """Return ``name`` as it compares equal to one typed elsewhere; macOS decomposes accents."""
    return unicodedata.normalize("NFC", name)


def folded(name: str) -> str:
    """Return what some file system would take for the same name as ``name``."""
    return composed(composed(name).casefold())


def is_ignored(path: str) -> bool:
    """Tell whether ``path`` is left behind by a tool, rather than handed in by a person."""
    return any(part in _IGNORED or part.startswith("._") for part in path.split("/"))


def clean_path(raw: str, bounds: Bounds) -> str:
    """Return an archive's name for an entry as a relative POSIX path.

    Nothing is ever written under these names. They are refused all the same: a name that climbs
    out of the archive means that it was made to attack someone, and is for a person to look at.

    Raises:
        IntakeError: If it is absolute, climbs, names a drive, holds a backslash or a NUL, or is
            beyond ``bounds``.
    """
    # A backslash is part of a name here and ends a folder on Windows: two readers, two paths.
    if "\0" in raw or "\\" in raw:
        raise bad("path_unusable", file=show(raw))
    parts = [part for part in raw.split("/") if part not in {"", "."}]
    if raw.startswith("/") or ".." in parts or _DRIVE.match(raw):
        raise bad("path_outside", file=show(raw))
    if len(parts) > bounds.depth:
        raise bad("path_too_deep", file=show(raw), limit=bounds.depth)
    if any(len(part) > bounds.name_length for part in parts):
        raise bad("name_too_long", file=show(raw), limit=bounds.name_length)
    return "/".join(parts)


class FileKind(Enum):
    """What an entry is; only a plain file is ever read."""

    FILE = "file"
    LINK = "link"
    SPECIAL = "special"


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A name and the way to its content.

    Attributes:
        path: Relative POSIX path inside the submission.
        kind: Links and devices are listed so that a message can name them.
        content: Reads it, within bounds; called once at most.
    """

    path: str
    kind: FileKind
    content: Callable[[], bytes]

    def read(self) -> bytes:
        """Return the content.

        Raises:
            IntakeError: If this is no plain file, or is too large, or broken.
        """
        # Before anything is opened: a link may lead anywhere on this machine, a pipe never ends.
        if self.kind is not FileKind.FILE:
            raise bad(f"is_{self.kind.value}", file=show(self.path))
        return self.content()


def entry_of(path: str, read: Callable[[], bytes], *, link: bool, plain: bool) -> FoundFile:
    """Return an entry; a link, device or pipe is listed without its content.

    Args:
        path: Relative POSIX path inside the submission.
        read: Reads the content, within bounds.
        link: It is a link.
        plain: Otherwise it is a plain file.
    """
    kind = FileKind.LINK if link else FileKind.FILE if plain else FileKind.SPECIAL
    return FoundFile(path, kind, read if kind is FileKind.FILE else no_content)


def no_content() -> bytes:
    """Stand for the content of something that is no plain file."""
    return b""
