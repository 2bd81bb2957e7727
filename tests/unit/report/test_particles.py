"""Korean particles after names, numbers and words."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

import pytest
from faults import no_faults

from grader.report.messages.catalogue import tables_of, words_in
from grader.report.messages.templates import Part, with_particles
from grader.verdict import Message, Param

KOREAN = words_in("ko")
_WRITTEN_BOTH_WAYS = re.compile(r"[이을은과]\([가를는와]\)|\(으\)로")
_FIXED = re.compile(r"\}[”’\"]?(이|가|을|를|은|는|과|와|으로|로|이나|나|이라|라)(?=[ ,.]|$)")
# What fills blanks, with the word that a Korean reader says there.
SAMPLES = {
    "x": "엑스", "n": "엔", "B": "비", "N": "엔", "R": "알", "L": "엘", "GPU": "지피유",
    "toy.py": "파이", "public_cases.json": "제이슨", "tensor": "텐서", "file": "파일",
    "reverse_rows": "로즈", "name": "네임", "list": "리스트", "loop": "루프", "map": "맵",
    "reset": "리셋", "string": "스트링", "dtype": "타입", "AssertionError": "에러", "cuda:0": "영",
    "cuda:1": "일", "UTF-8": "팔", "UTF-16": "육", "9 (SIGKILL)": "구", "x.flip(…)": "플립",
    "100": "백", "24": "사", "2.5": "오", "0x8f": "에프", "50 %": "퍼센트", "행렬": "행렬",
    "(3, 7)": "칠", "__init__": "이닛", "값": "값",
}  # fmt: skip


def _by_hangul(word: str, form: str) -> str:
    """Return the particle after a word in Hangul, by its last syllable."""
    ending = (ord(word[-1]) - ord("가")) % 28
    closed = ending > 0 and not (form == "(으)로" and ending == 8)
    after = {"이(가)": "이가", "을(를)": "을를", "은(는)": "은는", "과(와)": "과와"}
    if form == "(으)로":
        return "으로" if closed else "로"
    return after[form][0 if closed else 1]


def _with_another_particle(sample: str) -> Iterator[str]:
    for form in ("이(가)", "을(를)", "은(는)", "과(와)", "(으)로"):
        right = _by_hangul(SAMPLES[sample], form)
        for text, before, expected in (
            (f"{form} 뒤", sample, f"{right} 뒤"),
            (f"”{form}", f"“{sample}", f"”{right}"),
        ):
            if (particle := with_particles(text, before)) != expected:
                yield f"{particle} after {before}, expected {expected}"


def test_a_particle_follows_the_sound_before_it() -> None:
    no_faults(
        {sample: sample for sample in SAMPLES}, _with_another_particle,
        "templates.py knows how letters, numbers and words sound",
    )  # fmt: skip


@pytest.mark.parametrize("unknown", ["", "—", "数", "…"])
def test_what_has_no_known_sound_keeps_both_forms(unknown: str) -> None:
    assert with_particles("을(를) 씁니다", unknown) == "을(를) 씁니다"


def _templates(parts: tuple[Part, ...]) -> list[str]:
    return [template for part in parts for template in ((part,) if isinstance(part, str) else part)]


def _shown_both_ways(name: str) -> Iterator[str]:
    for template in _templates(KOREAN.sentences[name]):
        blanks = {found for _, found, _, _ in string.Formatter().parse(template) if found}
        for sample in ("x", "n", "tensor", "file", "cuda:0", "7", "값", "행렬"):
            params: dict[str, Param] = dict.fromkeys(blanks, sample)
            params |= {found: 7 for found in blanks if found in ("line", "column")}
            text = KOREAN.render(Message(name, params))
            if _WRITTEN_BOTH_WAYS.search(text):
                yield text


def test_no_message_shows_a_particle_both_ways() -> None:
    templates = [text for parts in KOREAN.sentences.values() for text in _templates(parts)]
    assert sum(bool(_WRITTEN_BOTH_WAYS.search(text)) for text in templates) > 20
    no_faults(
        {name: name for name in KOREAN.sentences}, _shown_both_ways,
        "put the particle right behind a blank or a word, as ko.toml does elsewhere",
    )  # fmt: skip


def test_no_text_fixes_a_particle_after_a_blank() -> None:
    texts = [text for parts in KOREAN.sentences.values() for text in _templates(parts)]
    texts += [text for table in ("phrases", "labels") for text in tables_of("ko")[table].values()]
    assert [text for text in texts if _FIXED.search(text)] == []
