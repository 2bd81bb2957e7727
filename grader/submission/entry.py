"""One thing found in a hand-in, before anything was decided about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from grader.submission.names import bad, show


class Kind(Enum):
    """What an entry is; only a plain file is ever read."""

    FILE = "file"
    LINK = "link"
    SPECIAL = "special"


@dataclass(frozen=True, slots=True)
class Entry:
    """A name and the way to its content.

    Attributes:
        path: Relative POSIX path inside the hand-in.
        kind: Links and devices are listed so that a message can name them.
        content: Reads it, within bounds; called once at most.
    """

    path: str
    kind: Kind
    content: Callable[[], bytes]

    def read(self) -> bytes:
        """Return the content.

        Raises:
            IntakeError: If this is no plain file, or is too large, or broken.
        """
        if self.kind is not Kind.FILE:
            raise bad(f"is_{self.kind.value}", file=show(self.path))
        return self.content()


def no_content() -> bytes:
    """Stand for the content of something that is no plain file."""
    return b""
