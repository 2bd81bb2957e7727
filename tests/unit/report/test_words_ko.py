"""The Korean words say all that the English ones do, with the same blanks."""

from __future__ import annotations

import re
import string

import pytest

from grader.report import words_en, words_ko
from grader.report.language import KOREAN, VARIABLE, choose, current
from grader.report.words import ENGLISH
from grader.report.words_en_intake import Sentence
from grader.verdict import Message

_HANGUL = re.compile("[가-힣]")
_BLANK = re.compile(r"\{\w+\}")


def _templates(sentence: Sentence) -> list[str]:
    return [
        template for part in sentence for template in ((part,) if isinstance(part, str) else part)
    ]


def _blanks(template: str) -> set[tuple[str, str]]:
    return {(name, spec or "") for _, name, spec, _ in string.Formatter().parse(template) if name}


@pytest.mark.parametrize("name", ["SENTENCES", "CODES", "PHRASES"])
def test_nothing_is_missing_and_nothing_is_left_over(name: str) -> None:
    assert set(getattr(words_ko, name)) == set(getattr(words_en, name))


@pytest.mark.parametrize("name", sorted(words_en.SENTENCES))
def test_a_sentence_has_the_same_blanks_in_the_same_choices(name: str) -> None:
    english, korean = words_en.SENTENCES[name], words_ko.SENTENCES[name]
    assert english != korean
    ours, theirs = _templates(korean), _templates(english)
    assert len(korean) == len(english)
    assert [_blanks(text) for text in ours] == [_blanks(text) for text in theirs]
    assert all(_HANGUL.search(text) or "{type}" in text or _BLANK.fullmatch(text) for text in ours)


@pytest.mark.parametrize("code", sorted(words_en.CODES))
def test_a_code_is_said_in_korean(code: str) -> None:
    assert _HANGUL.search(words_ko.CODES[code]) or code == "not_finite"


@pytest.mark.parametrize("name", sorted(words_en.PHRASES))
def test_a_frame_has_the_same_blanks(name: str) -> None:
    assert _blanks(words_ko.PHRASES[name]) == _blanks(words_en.PHRASES[name])
    assert _HANGUL.search(words_ko.PHRASES[name])


@pytest.mark.parametrize(
    ("chosen", "locale", "korean"),
    [
        (None, "ko_KR.UTF-8", True),
        (None, "en_GB.UTF-8", False),
        (None, None, False),
        ("en", "ko_KR.UTF-8", False),
        ("ko", "C", True),
        ("fr", "ko_KR.UTF-8", True),
    ],
)
def test_what_was_chosen_comes_before_the_locale(
    chosen: str | None, locale: str | None, korean: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (VARIABLE, "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    if locale:
        monkeypatch.setenv("LANG", locale)
    if chosen:
        monkeypatch.setenv(VARIABLE, chosen)
    assert (current() is KOREAN) == korean


def test_choosing_is_for_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "en")
    choose("ko")
    assert current() is KOREAN


def test_a_sentence_is_filled_in_korean() -> None:
    told = Message("wrong_shape", {"actual": "(3,)", "expected": "(1, 3)"})
    assert KOREAN.render(told) == "shape: (3,), 맞는 값: (1, 3)."
    assert ENGLISH.render(told) == "Shape is (3,), expected (1, 3)."
