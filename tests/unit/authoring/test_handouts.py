"""A handout in Korean says what the English one does; the examples are the notebook's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from faults import no_faults

FOLDERS = {
    path.parent.name: path.parent
    for path in sorted(Path(__file__).parents[3].glob("assignments/*/handout.md"))
}
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


def of_another_shape(folder: Path) -> Iterator[str]:
    english, korean = (list(shape(text)) for text in both(folder))
    for theirs, ours in zip_longest(english, korean):
        if theirs != ours:  # all that follows is shifted
            yield f"handout.ko.md has {ours} where handout.md has {theirs}"
            return


def test_every_question_rule_and_formula_is_there_in_order() -> None:
    no_faults(FOLDERS, of_another_shape, "let both handouts say the same in the same order")


def lost_in_translation(folder: Path) -> Iterator[str]:
    english, korean = both(folder)
    for text in sorted(lost(CODE, english, korean) | lost(NUMBER, english, korean)):
        yield f"handout.ko.md lacks {text}"
    if not HANGUL.search(korean):
        yield "handout.ko.md is not Korean"
    if f"`{folder.name}.ipynb`" not in korean:
        yield f"handout.ko.md does not name `{folder.name}.ipynb`"


def test_every_name_and_figure_is_there() -> None:
    no_faults(FOLDERS, lost_in_translation, "say it in handout.ko.md as well")


def not_led_to(folder: Path) -> Iterator[str]:
    if "(handout.ko.md)" not in (folder / "handout.md").read_text(encoding="utf-8"):
        yield "handout.md does not link handout.ko.md"
    handed_out = folder.parents[1] / "starter" / folder.name / "handout.ko.md"
    if (
        not handed_out.is_file()
        or handed_out.read_bytes() != (folder / handed_out.name).read_bytes()
    ):
        yield f"starter/{folder.name} has another handout.ko.md"


def test_the_english_one_and_the_starter_lead_to_it() -> None:
    no_faults(FOLDERS, not_led_to, "link it, and run make starter ID=<id>")
