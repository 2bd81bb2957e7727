"""Korean particles, chosen by the sound that ends the word before them: 값이, 행을, x는, 3으로.

Names and numbers that fill a sentence end in any letter. Hangul says its sound by its code. A
digit and a single letter are read by their Korean names (3 삼, 7 칠, n 엔, x 엑스), a word in Latin
letters roughly as it is said in Korean (tensor 텐서, file 파일, name 네임).
"""

from __future__ import annotations

import re

_PAIRS = {
    "이(가)": ("이", "가"),
    "을(를)": ("을", "를"),
    "은(는)": ("은", "는"),
    "과(와)": ("과", "와"),
    "(으)로": ("으로", "로"),
}
"""How a template writes a particle → after a consonant, after a vowel."""
_FORM = re.compile(rf"([”’\"')\]}}]*)({'|'.join(map(re.escape, _PAIRS))})")
_ASIDE = re.compile(r"(?<=\w)\W*\([^()]*\)\W*$")
_LAST = re.compile(r"([A-Za-z]+|[0-9]|[가-힣]|%)(?:[^\w%]|_)*$")
_LOOKED_AT = 80
"""Characters before a particle: text of a submission may be long, and the patterns step back."""
_FIRST_HANGUL, _ENDINGS, _NONE, _RIEUL = 0xAC00, 28, 0, 8
_DIGITS = {"0": "영", "1": "일", "2": "이", "3": "삼", "4": "사", "5": "오", "6": "육", "7": "칠",
           "8": "팔", "9": "구", "%": "트"}  # fmt: skip
_LETTERS = {"l": "엘", "r": "알", "m": "엠", "n": "엔"}
"""Letters whose names end in a consonant; all others end in a vowel."""
_WORDS = (
    (re.compile(r"le?$"), "을"),
    (re.compile(r"(?:m|n|ng|[aeiouy][mn]e)$"), "은"),
    # A stop after one short vowel closes the syllable: set 셋, map 맵, but list 리스트, loop 루프.
    (re.compile(r"(?:^|[^aeiou])[aeiou](?:[ptkc]|ck)$|ype$|(?:in|out)put$"), "입"),
)


def with_particles(literal: str, before: str) -> str:
    """Return a template's text with the particle that it begins with, as what is before it asks.

    Args:
        literal: Text between two blanks, such as ``”이(가) 없습니다. ``.
        before: What stands before it, blanks filled.
    """
    found = _FORM.match(literal)
    sound = _syllable(before) if found else None
    if found is None or sound is None:
        return literal
    closing, form = found.groups()
    ending = (ord(sound) - _FIRST_HANGUL) % _ENDINGS
    # ㄹ counts as a vowel before 로 alone: 파일로, 파일을.
    open_ended = ending == _NONE or (ending == _RIEUL and form == "(으)로")
    return f"{closing}{_PAIRS[form][open_ended]}{literal[found.end() :]}"


def _syllable(text: str) -> str | None:
    """Return a syllable that ends as the last word of a text sounds; None if nobody can know."""
    found = _LAST.search(_ASIDE.sub("", text[-_LOOKED_AT:]))
    word = found[1] if found else None
    if word is None or not word.isascii():
        return word
    if not word.isalpha():
        return _DIGITS[word]
    if len(word) == 1 or word.isupper():
        return _LETTERS.get(word[-1].lower(), "이")
    return next((sound for ending, sound in _WORDS if ending.search(word.lower())), "이")
