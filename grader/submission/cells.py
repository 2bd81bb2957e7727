"""From a line of converted Python back to the notebook cell that it came from."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass


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
