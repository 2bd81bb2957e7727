"""Whether a hand-in seems to be one for something else: told by what its files define.

The files are searched as text; nothing in them is parsed or executed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from grader.errors import UsageError
from grader.submission.entry import Entry
from grader.submission.submission import IntakeError

_MOST_FILES = 50
_DEFINED = re.compile(rb"\b(?:def|class)[ \t]+([A-Za-z_]\w*)|\b([A-Za-z_]\w*)[ \t]*=(?!=)")


def foreign(entries: Sequence[Entry], asked: Collection[str]) -> list[str] | None:
    """Return the functions of a hand-in that has nothing of what is asked for, in any of its files.

    Args:
        entries: All that was handed in.
        asked: Names of functions; where empty, nobody can tell.

    Returns:
        What its files define, in order; None where something is of what was asked for, or where
        that cannot be told: there are too many files, or one cannot be read.
    """
    if not asked or len(entries) > _MOST_FILES:
        return None
    defined: dict[str, None] = {}
    try:
        for entry in entries:
            for name, is_function in _names(entry.read()):
                if name in asked:
                    return None
                if is_function and not name.startswith("__"):
                    defined[name] = None
    except (IntakeError, UsageError):
        return None
    return list(defined)


def _names(content: bytes) -> Iterator[tuple[str, bool]]:
    """Yield names that a file binds, and whether each is a function or class."""
    # Text in UTF-16 as well: what is between its letters is no part of a name.
    for match in _DEFINED.finditer(content.replace(b"\0", b"")):
        function, value = match.groups()
        yield (function or value).decode(), function is not None
