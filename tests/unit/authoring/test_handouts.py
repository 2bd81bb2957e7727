"""A handout in Korean says what the English one does; the examples are the notebook's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

FOLDERS = sorted(path.parent for path in Path(__file__).parents[3].glob("assignments/*/handout.md"))
FENCE = re.compile(r"^```.*?^```\n?", re.M | re.S)
CODE = re.compile(r"`[^`\n]+`")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
HANGUL = re.compile("[가-힣]")
IN_FIGURES = re.compile(r"!\[.*?\]\(.*?\)")


def both(folder: Path) -> tuple[str, str]:
    """Return the prose of both handouts."""
    names = ("handout.md", "handout.ko.md")
    english, korean = ((folder / name).read_text(encoding="utf-8") for name in names)
    return IN_FIGURES.sub("", FENCE.sub("", english)), korean


def lost(pattern: re.Pattern[str], english: str, korean: str) -> set[str]:
    return set(pattern.findall(english)) - set(pattern.findall(korean))


def shape(text: str) -> Iterator[tuple[str, object]]:
    """Yield headings by depth, rules and rows of tables, in order."""
    for line in text.splitlines():
        if heading := re.match(r"(#+) (.*)", line):
            yield heading[1], tuple(CODE.findall(heading[2]))
        elif line.startswith("- "):
            yield "rule", "**" in line
        elif line.startswith("|"):
            yield "row", line.count("|")
        elif line.startswith("$$"):
            yield "formula", line


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_question_rule_and_formula_is_there_in_order(folder: Path) -> None:
    english, korean = both(folder)
    assert list(shape(korean)) == list(shape(english))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_name_and_figure_is_there(folder: Path) -> None:
    english, korean = both(folder)
    assert lost(CODE, english, korean) == set()
    assert lost(NUMBER, english, korean) == set()
    assert HANGUL.search(korean)
    assert f"`{folder.name}.ipynb`" in korean


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_english_one_and_the_starter_lead_to_it(folder: Path) -> None:
    assert "(handout.ko.md)" in (folder / "handout.md").read_text(encoding="utf-8")
    starter = folder.parents[1] / "starter" / folder.name
    assert (starter / "handout.ko.md").read_bytes() == (folder / "handout.ko.md").read_bytes()
