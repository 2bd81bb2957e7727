"""A Jupyter notebook becomes a Python file: its code cells, line for line, without IPython.

Outputs are dropped before anything else looks at the notebook. Nothing is executed. Magics, shell
lines and help requests stand at the start of a statement. Whether a line starts one is found by
following strings, brackets and continuations. ``tokenize`` cannot tell: from Python 3.12 on it
refuses the very lines that are to be found here, and it may read ahead of them. On valid Python
both agree, which the tests check on the standard library.
"""

from __future__ import annotations
import __future__

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from grader.submission.submission import Bounds, CellMap, IntakeError, bad, show
from grader.submission.text import decode

NEWLINE = re.compile(r"\r\n|\r|\n")  # what Python takes for the end of a line; no more, no less
_CELL_MAGIC = re.compile(r"%%\s*(\w+)\s*(.*)")
_PYTHON_BODIES = frozenset({"time", "capture", "prun", "debug", "memit"})
_FILE_BODIES = frozenset({"writefile", "file"})
_TIMED = re.compile(r"^(\s*)%time\s+(?=[^\s-])")  # what it times is Python
_ESCAPED = re.compile(r"[%!?,;/]")
_HELP = re.compile(r"%{0,2}[\w.*\[\]-]+\?{1,2}(\s*;)?")  # of what is stripped
_ASSIGNED = re.compile(r"([A-Za-z_][\w.,\s*\[\]]*)=\s*(!|%(?:sx|system)\b|%)")
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
        """Tell whether the next line starts a statement."""
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
    lines = NEWLINE.split(cell.removesuffix("\n"))
    first = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    # As IPython does: the indentation of the first line is taken off all of them.
    opening = lines[first] if first < len(lines) else ""
    indent = opening[: len(opening) - len(opening.lstrip(" \t"))]
    lines = [line.removeprefix(indent) for line in lines]
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
    # What a shell prints is a list of lines in IPython, and of none here: loops go through it.
    value = "None" if assigned[2] == "%" else "[]"
    return f"{target} = {value}" if target.isidentifier() else "pass"


def _features(text: str) -> set[str]:
    """Return the features that a ``from __future__ import`` asks for, if all are known."""
    match = _FUTURE.fullmatch(text) if len(text) <= _FUTURE_LENGTH else None
    names = set(re.findall(r"\w+", match[1])) if match else set()
    return names if names <= set(__future__.all_feature_names) else set()


# Python looks for a coding cookie in the first two lines. Both are ours, so that no comment in the
# first cell can make it read the file as something else.
_HEADER = ("# Made from the code cells of a notebook.", "")
_TEXT_KEY = {1: "code", 2: "input", 3: "input", 4: "source"}  # by version of the format
_SHEETS = frozenset({2, 3})  # versions with worksheets between the notebook and its cells


def convert(path: str, data: bytes, module: str, bounds: Bounds) -> tuple[bytes, CellMap]:
    """Return the code cells of a notebook as one Python file.

    Args:
        path: Name of the notebook, for messages.
        data: Its bytes.
        module: Name of the file to be made.
        bounds: Limits on its size.

    Returns:
        UTF-8 source, and where its lines came from.

    Raises:
        IntakeError: If it is no notebook, or holds no code.
    """
    cells = _code_cells(path, _parse(path, data, bounds), bounds)
    lines = [*_HEADER]
    starts = []
    features: set[str] = set()
    for number, cell in enumerate(cells, start=1):
        python, wanted = to_python(cell, module)
        features |= wanted
        lines.append(f"# cell {number}")
        starts.append(len(lines) + 1)
        lines += python
    if features:
        lines[1] = f"from __future__ import {', '.join(sorted(features))}"
    text = "\n".join(lines) + "\n"
    # A lone surrogate can stand in JSON, not in a file; escaped it means the same in a string.
    return text.encode("utf-8", "backslashreplace"), CellMap(tuple(starts))


def _parse(path: str, data: bytes, bounds: Bounds) -> Mapping[str, object]:
    if not data.strip():
        raise bad("empty_file", file=show(path))
    _check_items(path, data, bounds)
    text = decode(path, data, "utf-8-sig")
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise bad(
            "notebook_not_json",
            file=show(path),
            line=error.lineno,
            column=error.colno,
            problem=show(error.msg),
        ) from error
    except (ValueError, RecursionError) as error:  # an endless number, or endless nesting
        raise _broken(path, str(error)) from error
    if not isinstance(content, dict):
        raise _broken(path, "it holds no JSON object")
    return content


def _check_items(path: str, data: bytes, bounds: Bounds) -> None:
    """Refuse JSON of so many small parts that it would fill the memory once parsed."""
    # The pairs of backslashes first: of “\\"” the quote ends its string, of “\"” it does not.
    plain = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    if plain.count(b'"') <= 2 * bounds.notebook_items:
        # Every second part lies outside strings: the commas of a long text are no items.
        outside = plain.split(b'"')[::2]
        items = sum(part.count(b",") + part.count(b"[") + part.count(b"{") for part in outside)
        if items <= bounds.notebook_items:
            return
    raise bad("notebook_too_large", file=show(path))


def _code_cells(path: str, content: Mapping[str, object], bounds: Bounds) -> list[str]:
    """Return the text of the code cells; their outputs, and all other cells, are left alone.

    ``nbformat`` would do no more here than pick the right key, but checks every cell against a
    JSON schema on the way, which takes minutes for a notebook made to take minutes.
    """
    version = content.get("nbformat", max(_TEXT_KEY))
    if not isinstance(version, int) or version not in _TEXT_KEY:
        raise bad("notebook_version", file=show(path), version=show(str(version)))
    sheets = content.get("worksheets") if version in _SHEETS else [content]
    if not isinstance(sheets, list):
        raise _broken(path, "it has no list of worksheets")
    cells = [
        _text(path, cell.get(_TEXT_KEY[version], ""))
        for sheet in sheets
        for cell in _cells(path, sheet)
        if isinstance(cell, dict) and cell.get("cell_type") == "code"
    ]
    if len(cells) > bounds.cells or sum(map(len, cells)) > bounds.source_bytes:
        raise bad("notebook_too_large", file=show(path))
    if not any(cell.strip() for cell in cells):
        raise bad("notebook_without_code", file=show(path))
    return cells


def _cells(path: str, holder: object) -> list[object]:
    cells = holder.get("cells") if isinstance(holder, dict) else None
    if not isinstance(cells, list):
        raise _broken(path, "it has no list of cells")
    return cells


def _text(path: str, value: object) -> str:
    """Join the lines of a cell, which editors write as one string or as a list of them."""
    parts = value if isinstance(value, list) else [value]
    text = [part for part in parts if isinstance(part, str)]
    if len(text) < len(parts):
        raise _broken(path, "a cell’s source is not text")
    return "".join(text)


def _broken(path: str, problem: str) -> IntakeError:
    return bad("notebook_broken", file=show(path), problem=show(problem))
