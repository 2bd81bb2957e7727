"""Titles and hints in Korean: complete for every assignment, and seen by a student."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import toy_starter
from faults import no_faults

from grader.assignment.translation import parse
from grader.report.messages.language import VARIABLE
from grader.selfcheck.workplace import open_workplace

STARTERS = {
    path.parent.name: path.parent
    for path in sorted(Path(__file__).parents[3].glob("starter/*/public_cases.json"))
}
_HANGUL = re.compile("[가-힣]")
_CODE = re.compile("`[^`]+`")


def _untranslated(folder: Path) -> Iterator[str]:
    document = json.loads((folder / "public_cases.json").read_text(encoding="utf-8"))
    names = [question["id"] for question in document["assignment"]["questions"]]
    words = parse((folder / "ko.toml").read_text(encoding="utf-8"), names)
    hints = document["hints"]
    for what, ours, english in (
        ("titles", list(words.titles), names),
        ("hints", sorted(words.hints), sorted(hints)),
    ):
        if ours != english:
            yield f"{what} are of {', '.join(ours)}, expected {', '.join(english)}"
    for text in (words.title, *words.titles.values(), *words.hints.values()):
        if not _HANGUL.search(text):
            yield f"is not Korean: {text}"
    for name in hints.keys() & words.hints.keys():
        for code in set(_CODE.findall(hints[name])) - set(_CODE.findall(words.hints[name])):
            yield f"the hint of {name} lacks {code}"


def test_every_title_and_hint_is_translated() -> None:
    no_faults(STARTERS, _untranslated, "translate it in reference/ID/ko.toml, then make starter")


def test_a_korean_student_sees_titles_and_hints_in_korean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = toy_starter.starter(tmp_path / "toy")
    text = 'title = "장난감"\n[double]\ntitle = "두 배"\nhint = "자신을 더하세요."\n'
    (folder / "ko.toml").write_text(text, encoding="utf-8")
    english = open_workplace(folder).public
    monkeypatch.setenv(VARIABLE, "ko")
    korean = open_workplace(folder).public
    assert (korean.assignment.title, korean.hints["double"]) == ("장난감", "자신을 더하세요.")
    assert korean.plan[0].question.title == korean.assignment.questions[0].title == "두 배"
    assert korean.assignment.questions[1] == english.assignment.questions[1]
    (folder / "ko.toml").write_text("title =", encoding="utf-8")
    assert open_workplace(folder).public.assignment == english.assignment
