"""One thing found in a submission: its name, what it is, and how its content is read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from grader.submission.submission import Bounds, IntakeError
from grader.verdict import Code, Message, Param

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
        if self.kind is not FileKind.FILE:
            raise bad(f"is_{self.kind.value}", file=show(self.path))
        return self.content()


def no_content() -> bytes:
    """Stand for the content of something that is no plain file."""
    return b""
