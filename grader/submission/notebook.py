"""A Jupyter notebook becomes a Python file: its code cells, one after the other.

Outputs are dropped before anything else looks at the notebook. Nothing is executed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from grader.submission.bounds import Bounds
from grader.submission.cells import CellMap
from grader.submission.magics import to_python
from grader.submission.names import bad, show
from grader.submission.submission import IntakeError
from grader.submission.text import decode

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
    plain = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    if plain.count(b'"') <= 2 * bounds.notebook_items:
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
