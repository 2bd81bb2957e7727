"""What one function says by itself, as it is found."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from grader.static_analysis.facts import Construct, Mention, Place


@dataclass
class Scan:
    """What one function says by itself.

    Attributes:
        own: Uses of names of the file: name, depth of loops there, position.
        texts: Source text that it runs, where that can be told, with its place.
    """

    name: str
    constructs: list[Construct] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    opaque: list[Mention] = field(default_factory=list)
    own: list[tuple[str, int, Place]] = field(default_factory=list)
    indexings: int = 0
    slice_assignments: int = 0


def place_of(node: ast.AST) -> Place:
    """Return where a node stands."""
    line = getattr(node, "lineno", 0)
    return Place(line, getattr(node, "col_offset", -1) + 1, getattr(node, "end_lineno", line) or 0)
