"""``docs/architecture.md`` names folders, files and functions that there are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from faults import no_faults

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
MOST = 12
_HOP = re.compile(r"^\| (\d+) \| `([^`]+)` · `([^`]+)` \|", re.MULTILINE)
WALKS = [_HOP.findall(part) for part in PAGE.split("\n## ") if part.startswith("Walk ")]
HOPS = {f"{file} · {function}": (file, function) for walk in WALKS for _, file, function in walk}


def functions(file: Path) -> set[str]:
    """Return the functions and methods of a file, methods with their class."""
    found = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            inside = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            found |= {f"{node.name}.{each.name}" for each in inside}
    return found


def test_there_are_two_walks_of_numbered_hops() -> None:
    assert len(WALKS) == 2
    for walk in WALKS:
        assert [int(number) for number, _, _ in walk] == list(range(1, len(walk) + 1))
        assert 5 < len(walk) <= MOST


def leads_nowhere(hop: tuple[str, str]) -> Iterator[str]:
    file, function = hop
    if not (ROOT / file).is_file():
        yield "there is no such file"
    elif function not in functions(ROOT / file):
        yield "the file has no such function"


def test_a_hop_names_a_function_of_a_file() -> None:
    no_faults(HOPS, leads_nowhere, "correct the walks of docs/architecture.md")


def test_every_folder_and_file_of_the_package_is_in_the_table_and_no_other() -> None:
    table = PAGE.split("## Where do I find it?")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+`) \|", table, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`(\w+(?:\.py)?)`", row)]
    package = ROOT / "grader"
    there = [path.parent.name for path in package.glob("*/__init__.py")]
    there += [path.name for path in package.glob("[a-z]*.py")]
    assert sorted(named) == sorted(there)
