"""The tables of docs/accuracy.md, from what ``accuracy.py`` kept of each variant."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from screening import at_most

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from variants import (  # noqa: E402  tests/ is no package
    HONEST_GROUP,
    LABELLED,
    LATER,
    LOOP,
    MUTANT,
    RIGHT_GROUPS,
)

PAGE = ROOT / "docs/accuracy.md"
START, END = "<!-- accuracy: made by make accuracy -->", "<!-- end of accuracy -->"

Row = dict[str, Any]


def _share(bad: int, of: int) -> str:
    """Return a count of mistakes, of how many, and the greatest rate that is likely."""
    return f"{bad} / {of:,} (≤ {100 * at_most(bad, of):.2g} %)" if of else "–"


def tables(rows: list[Row], names: Iterable[str]) -> Iterator[str]:
    """Yield the lines of all tables.

    Args:
        rows: What was kept of each variant.
        names: Of the assignments, in the order of the tables.
    """
    known = [row for row in rows if row["counts"]]
    yield "\n**Right submissions.** Refused by …\n"
    yield "| assignment | ours | ours: a person looks | notebook | gradescope-utils |"
    yield "|---|---|---|---|---|"
    for name in (*names, "all"):
        right = [
            r for r in known if r["group"] in RIGHT_GROUPS and name in (r["assignment"], "all")
        ]
        if right:
            yield _line(name, right, refused=True)
    yield "\n**Wrong submissions.** Accepted by …\n"
    yield "| assignment | ours | ours: a person looks | notebook | gradescope-utils |"
    yield "|---|---|---|---|---|"
    wrong = [row for row in known if row["group"] not in RIGHT_GROUPS]
    for name in (*names, "all"):
        if mine := [row for row in wrong if name in (row["assignment"], "all")]:
            yield _line(name, mine, refused=False)
    for group in (MUTANT, LABELLED, LOOP, *LATER):
        if mine := [row for row in wrong if row["group"] == group]:
            yield _line(f"all: {group}", mine, refused=False)
    yield "\n**Rewrites and disguises**, with what a person or nobody decided rightly:\n"
    yield from _kinds(known)


def _line(name: str, rows: list[Row], refused: bool) -> str:
    bad = sum(row["said"] == ("refused" if refused else "accepted") for row in rows)
    looked = sum(row["said"] == "review" for row in rows)
    cells = [_share(bad, len(rows)), _share(looked, len(rows))]
    for other in ("notebook", "tests"):
        asked = [row[other] for row in rows if row[other] is not None]
        count = asked.count(not refused)
        cells.append(f"{count} / {len(asked):,} ({count / len(asked):.1%})" if asked else "–")
    return f"| {name} | {' | '.join(cells)} |"


def _kinds(known: list[Row]) -> Iterator[str]:
    yield "| rewrite of a right submission | variants | refused | reviews |"
    yield "|---|---|---|---|"
    right = [row for row in known if row["group"] == HONEST_GROUP]
    yield from _kind_lines(right, "refused")
    yield "\n| disguise of a loop | variants | accepted | reviews |"
    yield "|---|---|---|---|"
    loops = [row | {"kinds": row["kinds"][:1]} for row in known if row["group"] == LOOP]
    yield from _kind_lines(loops, "accepted")

    yield "\n**Families that were added later** than those above:\n"
    yield "| group | family | variants | decided wrongly | reviews |"
    yield "|---|---|---|---|---|"
    for group in LATER:
        rows = [row | {"kinds": row["kinds"][:1]} for row in known if row["group"] == group]
        bad = "refused" if group in RIGHT_GROUPS else "accepted"
        yield from (f"| {group} {line}" for line in _kind_lines(rows, bad))


def _kind_lines(rows: list[Row], bad: str) -> Iterator[str]:
    for kind, count in Counter(kind for row in rows for kind in row["kinds"]).most_common():
        said = Counter(row["said"] for row in rows if kind in row["kinds"])
        yield f"| {kind.replace('_', ' ')} | {count} | {said[bad]} | {said['review']} |"


def write(text: str, page: Path = PAGE, marks: tuple[str, str] = (START, END)) -> None:
    """Put the tables between the marks of a page."""
    start, end = marks
    before, _, rest = page.read_text(encoding="utf-8").partition(start)
    _, _, after = rest.partition(end)
    page.write_text(f"{before}{start}\n{text}\n{end}{after}", encoding="utf-8")
