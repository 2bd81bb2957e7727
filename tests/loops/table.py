"""Prints the tables of ``docs/loops.md``: ``python tests/loops/table.py`` (a minute)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from grader.sandbox.host.open import open_sandbox
from loops.lab import FILES, LOOP, REFERENCE, TIMED, grade, grader, label

HEAD = """
| file | what it is | source | behaviour | verdict | with time |
|---|---|---|---|---|---|
"""


def table(kind: str, rows: list[tuple[str, ...]]) -> str:
    """Return the table of one kind of file, with what was caught of how many above it."""
    mine = [row[1:] for row in rows if row[0] == kind]
    passed = sum(row[-2] == "`ok`" for row in mine)
    caught = f"{len(mine) - passed} of {len(mine)} are caught"
    alarms = f"{len(mine) - passed} of {len(mine)} raise an alarm"
    told = caught if kind == "disguises" else alarms
    return f"{told}.\n{HEAD}" + "\n".join(f"| {' | '.join(row)} |" for row in mine)


def rows() -> list[tuple[str, ...]]:
    """Return kind, file, what it is, each witness's word, and the verdict without and with time.

    Time is asked only where there is a doubt.
    """
    found = []
    with open_sandbox("auto") as sandbox:
        ready = grader(sandbox)
        clocked = grader(sandbox, REFERENCE + LOOP, clock=True, timed=TIMED)
        for path in FILES:
            graded, again = grade(ready, path), grade(clocked, path)
            words = (graded.says("source"), graded.says("behaviour"))
            codes = [f"`{graded.loops.code.value}`", ""]
            if "time" in {item["name"] for item in again.loops.witnesses}:
                codes[1] = f"`{again.loops.code.value}`"
            found.append((path.parent.name, f"`{path.stem}`", label(path)[0], *words, *codes))
    return found


if __name__ == "__main__":
    found = rows()
    for kind in ("disguises", "legal"):
        sys.stdout.write(f"### {kind.capitalize()}\n\n{table(kind, found)}\n\n")
