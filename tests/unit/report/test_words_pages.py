"""The labels of the pages are the same ones, with the same blanks, in both languages."""

from __future__ import annotations

import re
import string

import pytest

from grader.report.pages.render import MARKS
from grader.report.words_en_pages import LABELS as ENGLISH
from grader.report.words_ko_pages import LABELS as KOREAN
from grader.verdict import Status


def blanks(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def test_nothing_is_missing_and_nothing_is_left_over() -> None:
    assert list(ENGLISH) == list(KOREAN)


@pytest.mark.parametrize("name", sorted(ENGLISH))
def test_a_label_has_the_same_blanks(name: str) -> None:
    assert blanks(ENGLISH[name]) == blanks(KOREAN[name])
    same = name in {"made_by", "bin", "bin_full"}
    assert same or re.search("[가-힣]", KOREAN[name])


@pytest.mark.parametrize("status", list(Status))
def test_every_status_has_a_sign_and_a_word(status: Status) -> None:
    assert status.value in MARKS
    assert status.value in ENGLISH
