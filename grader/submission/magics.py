"""Turns the text of a notebook cell into Python, line for line, without IPython.

Magics, shell lines and help requests stand at the start of a statement. Whether a line starts one
is found by following strings, brackets and continuations. ``tokenize`` cannot tell: from Python
3.12 on it refuses the very lines that are to be found here, and it may read ahead of them. On
valid Python both agree, which the tests check on the standard library.
"""

from __future__ import annotations
import __future__

import re
from pathlib import PurePosixPath

NEWLINE = re.compile(r"\r\n|\r|\n")  # what Python takes for the end of a line; no more, no less
_CELL_MAGIC = re.compile(r"%%\s*(\w+)\s*(.*)")
_PYTHON_BODIES = frozenset({"time", "capture", "prun", "debug", "memit"})
_FILE_BODIES = frozenset({"writefile", "file"})
_TIMED = re.compile(r"^(\s*)%time\s+(?=[^\s-])")  # what it times is Python
_ESCAPED = re.compile(r"[%!?,;/]")
_HELP = re.compile(r"%{0,2}[\w.*\[\]-]+\?{1,2}(\s*;)?")  # of what is stripped
_ASSIGNED = re.compile(r"([A-Za-z_][\w.,\s*\[\]]*)=\s*[%!]")
_INSTALL = re.compile(r"(pip3?|conda|mamba|uv)\s+(?=[a-z])(?!(in|is|if|and|or|for|not)\b)")
_FUTURE = re.compile(r"from\s+__future__\s+import\s+\(?([\w\s,]+)\)?\s*(#.*)?")
_FUTURE_LENGTH = 200  # the expression above is quadratic in it
_MARK = re.compile(r"#|'''|\"\"\"|'|\"|[(\[{]|[)\]}]|\\$")

_ENDS = {quote: re.compile(rf"\\.|{quote}") for quote in ("'", '"', "'''", '"""')}


class Scanner:
    """Follows strings, brackets and backslashes from line to line; never fails."""

    def __init__(self) -> None:
        self._quote = ""
        self._depth = 0
        self._joined = False

    @property
    def fresh(self) -> bool:
        """Whether the next line starts a statement."""
        return not (self._quote or self._depth or self._joined)

    def feed(self, line: str) -> None:
        """Take in one line, given without its line ending."""
        position: int | None = 0
        self._joined = False
        while position is not None:
            position = self._string(line, position) if self._quote else self._code(line, position)

    def _code(self, line: str, position: int) -> int | None:
        """Go on to the next mark outside strings; None at the end of the line."""
        match = _MARK.search(line, position)
        if match is None or match[0] == "#":
            return None
        mark = match[0]
        if mark in "([{":
            self._depth += 1
        elif mark in ")]}":
            self._depth = max(0, self._depth - 1)
        elif mark == "\\":
            self._joined = True
        else:
            self._quote = mark
        return match.end()

    def _string(self, line: str, position: int) -> int | None:
        """Go on to the end of the string; None if it does not end on this line."""
        for match in _ENDS[self._quote].finditer(line, position):
            position = match.end()
            if match[0] == self._quote:
                self._quote = ""
                return position
        # A string in single quotes goes on only after a backslash; without it, Python says so.
        if len(self._quote) == 1 and not line.endswith("\\", position):
            self._quote = ""
        return None


def to_python(cell: str, module: str) -> tuple[list[str], set[str]]:
    """Return a cell's lines as Python, as many as it has.

    Args:
        cell: Text of a code cell.
        module: Name of the file made from the notebook; a cell that writes it with
            ``%%writefile`` holds Python.

    Returns:
        The lines, and the ``__future__`` features asked for: in a notebook they may stand
        anywhere, in a file only at the top.
    """
    lines = _dedented(NEWLINE.split(cell.removesuffix("\n")))
    first = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    start = 0
    match = _CELL_MAGIC.match(lines[first]) if first < len(lines) else None
    if match:
        if not _holds_python(match[1], match[2], module):
            return [f"# {line}" for line in lines], set()
        lines[first] = f"# {lines[first]}"
        start = first + 1
    return _statements(lines, start)


def _holds_python(magic: str, arguments: str, module: str) -> bool:
    names = {PurePosixPath(word.strip("'\"")).name for word in arguments.split()}
    written = magic in _FILE_BODIES and PurePosixPath(module).name in names
    return magic in _PYTHON_BODIES or written


def _dedented(lines: list[str]) -> list[str]:
    """Take off the indentation of the first line, as IPython does."""
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    return [line.removeprefix(indent) for line in lines]


def _statements(lines: list[str], start: int) -> tuple[list[str], set[str]]:
    result, features = lines[:start], set[str]()
    scanner, swallow = Scanner(), False
    for line in lines[start:]:
        text = line.strip()
        stand_in = _stand_in(text) if scanner.fresh else None
        if swallow:  # the rest of a shell command that goes over several lines
            result.append(f"# {line}")
        elif stand_in is not None:
            features |= _features(text)
            result.append(f"{line[: len(line) - len(line.lstrip())]}{stand_in}  # {text}")
        else:
            python = _TIMED.sub(r"\1", line) if scanner.fresh else line
            scanner.feed(python)
            result.append(python)
            continue
        swallow = text.endswith("\\")
    return result, features


def _stand_in(text: str) -> str | None:
    """Return what replaces a statement that only IPython knows, or None for Python."""
    if _TIMED.match(text):
        return None
    if _ESCAPED.match(text) or _HELP.fullmatch(text) or _INSTALL.match(text) or _features(text):
        return "pass"
    assigned = _ASSIGNED.match(text)
    if assigned is None:
        return None
    target = assigned[1].strip()
    return f"{target} = None" if target.isidentifier() else "pass"


def _features(text: str) -> set[str]:
    """Return the features that a ``from __future__ import`` asks for, if all are known."""
    match = _FUTURE.fullmatch(text) if len(text) <= _FUTURE_LENGTH else None
    names = set(re.findall(r"\w+", match[1])) if match else set()
    return names if names <= set(__future__.all_feature_names) else set()
