"""Which questions a change of the student's file can have touched, told from its text.

A question is touched if the text of its function changed, or of anything in the file that the
function can come to, or anything at the module level. What a function can come to is read in a
process of its own (``grader.static_analysis``); where that fails, everything is touched.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from grader.assignment.types import Assignment
from grader.static_analysis.reader import SourceReader

_DEFINED = re.compile(r"(?:async\s+def|def|class)\s+(\w+)")
_MODULE = ""


@dataclass(frozen=True, slots=True)
class Print:
    """What a question rests on.

    Attributes:
        text: Digest of all of it.
        lines: Where its function and what that comes to begin; messages name such lines.
    """

    text: str
    lines: tuple[int, ...] = ()


def prints(data: bytes, assignment: Assignment, reader: SourceReader) -> dict[str, Print]:
    """Return question → its print.

    Args:
        data: The bytes of the file that holds the questions.
        assignment: Names the questions.
        reader: Tells what each function can come to.
    """
    blocks = _blocks(data.decode("utf-8", "replace"))
    facts = reader.read(data)
    whole = Print(hashlib.sha256(data).hexdigest())
    result = {}
    for question in assignment.questions:
        name = next((name for name in question.names if name in blocks), None)
        entry = facts.entries.get(name or "")
        if name is None or entry is None:
            result[question.id] = whole
            continue
        reached = [part for part in (_MODULE, *sorted(entry.functions)) if part in blocks]
        text = "\0".join(f"{part}\0{blocks[part].text}" for part in reached)
        digest = hashlib.sha256(text.encode()).hexdigest()
        lines = tuple(blocks[part].line for part in reached if part)
        result[question.id] = Print(digest, lines)
    return result


def touched(old: Mapping[str, Print], new: Mapping[str, Print], right: frozenset[str]) -> list[str]:
    """Return the questions to check again, in order.

    Args:
        old: Prints before the change.
        new: Prints after it.
        right: Questions of which nothing was said that names a line; they may move.
    """
    return [
        name
        for name, found in new.items()
        if name not in old
        or found.text != old[name].text
        or (name not in right and found.lines != old[name].lines)
    ]


@dataclass(frozen=True, slots=True)
class _Block:
    text: str
    line: int


def _blocks(text: str) -> dict[str, _Block]:
    """Cut a file where a line begins in the first column; all but definitions is module level.

    Text in the first column inside a string is taken for module level: a change of it touches
    more than it need, never less.
    """
    found: dict[str, _Block] = {}
    name, first, lines = _MODULE, 1, list[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        if line[:1].strip() and not line.startswith(("#", ")", "]", "}")):
            _add(found, name, first, lines)
            match = _DEFINED.match(line)
            name, first, lines = match[1] if match else _MODULE, number, []
        lines.append(line)
    _add(found, name, first, lines)
    return found


def _add(found: dict[str, _Block], name: str, line: int, lines: list[str]) -> None:
    # Comments in the first column belong to nothing, and blank lines say nothing.
    text = "\n".join(part.rstrip() for part in lines if part.strip() and not part.startswith("#"))
    if name in found:
        text = f"{found[name].text}\n{text}"
    if text:
        found[name] = _Block(text, line)
