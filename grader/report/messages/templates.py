"""Templates and what fills their blanks: parameters as readers see them, then Korean particles.

Defends against: a template that reaches into an object; a parameter of endless length.
"""

from __future__ import annotations

import re
import signal
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from grader.text import inert, long_integer
from grader.verdict import Param

Part = Union[str, tuple[str, ...]]
"""A template, or several of which the first that can be filled is taken."""

_MAX_PARAM = 500
_MAX_LINE = 99_999
_MAX_DIGITS_BITS = 256
_LARGEST = 1e15
_SHOWN_ITEMS = 12


def fill(part: Part, params: Mapping[str, Param]) -> str:
    """Return the first template of a part that can be filled, filled; empty if none can."""
    templates = (part,) if isinstance(part, str) else part
    filled = (_filled(template, params) for template in templates)
    return next((text for text in filled if text), "")


def _filled(template: str, params: Mapping[str, Param]) -> str:
    try:
        return FORMATTER.vformat(template, (), params)
    except UnfillableError:
        return ""


class UnfillableError(Exception):
    """A template names something that the message does not have."""


class _Formatter(string.Formatter):
    """``str.format`` that fills simple names and nothing more; Korean particles follow them."""

    def vformat(self, template: str, args: Sequence[Any], params: Mapping[str, Any]) -> str:
        text = ""
        for literal, name, spec, conversion in self.parse(template):
            text += with_particles(literal, text)
            if name is not None:
                value = self.convert_field(self.get_field(name, args, params)[0], conversion)
                text += self.format_field(value, spec or "")
        return text

    def get_field(self, name: str, _: Sequence[Any], params: Mapping[str, Any]) -> tuple[Any, str]:
        # A name such as “x.__class__” would let a template, or a translation, reach into objects.
        if not name.isidentifier():
            raise ValueError(f"a template may name a parameter, not “{name}”")
        if params.get(name) in (None, ""):
            raise UnfillableError(name)
        return params[name], name

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion is not None:
            raise ValueError("a template may not convert")
        return value

    def format_field(self, value: Any, spec: str) -> str:
        if spec in _SPECS:
            return _SPECS[spec](value)
        if spec and isinstance(value, (int, float)) and abs(value) < _LARGEST:
            return format(value, spec)
        return show(value)


FORMATTER = _Formatter()


def show(value: Param) -> str:
    """Return a parameter as a reader wants to see it; six digits, tuples for indices."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        shown = [show(item) for item in value[:_SHOWN_ITEMS]]
        if len(value) > _SHOWN_ITEMS:
            shown.append("…")
        inside = ", ".join(shown)
        return inert(f"({inside},)" if len(value) == 1 else f"({inside})", _MAX_PARAM)
    # str() of a huge integer takes quadratic time, and Python refuses it above 4,300 digits.
    if isinstance(value, int) and value.bit_length() > _MAX_DIGITS_BITS:
        return long_integer(value)
    return inert(str(value), _MAX_PARAM)


class CellLine(str):
    """A line's number, with the cell that it stands in."""


def line_text(value: Param) -> str:
    """Return a line's number.

    Raises:
        UnfillableError: It is unknown, or no line of any file.
    """
    if isinstance(value, CellLine):
        return value
    if type(value) is not int or not 0 < value <= _MAX_LINE:
        raise UnfillableError("line")
    return str(value)


def _names(value: Param) -> str:
    items = value if isinstance(value, list) else [value]
    if not items:
        raise UnfillableError("names")
    shown = [show(item) for item in items[:_SHOWN_ITEMS]]
    return ", ".join(shown) + (", …" if len(items) > _SHOWN_ITEMS else "")


def _every(value: Param) -> str:
    return ", ".join(map(show, value)) if isinstance(value, list) else show(value)


def _most(value: Param) -> str:
    if not isinstance(value, list) or len(value) < 2:
        raise UnfillableError("most")
    return _names(value[:-1])


def _last(value: Param) -> str:
    return _names(value[-1:] if isinstance(value, list) else value)


def _signal(value: Param) -> str:
    try:
        return f"{value} ({signal.Signals(value).name})"  # type: ignore[arg-type]
    except ValueError:
        return show(value)


def _index(value: Param) -> str:
    if not value and value != 0:
        raise UnfillableError("index")
    return show(value)


def _part(value: Param) -> str:
    if value == "result":
        raise UnfillableError("part")
    return show(value)


def _sentence(value: Param) -> str:
    text = show(value)
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _size(value: Param) -> str:
    if type(value) is not int:
        return show(value)
    return f"{value >> 20} MiB" if value >= 1 << 20 else f"{value} bytes"


_SPECS: dict[str, Callable[[Param], str]] = {
    "every": _every,
    "index": _index,
    "last": _last,
    "line": line_text,
    "most": _most,
    "names": _names,
    "part": _part,
    "sentence": _sentence,
    "signal": _signal,
    "size": _size,
}


_PAIRS = {
    "이(가)": ("이", "가"),
    "을(를)": ("을", "를"),
    "은(는)": ("은", "는"),
    "과(와)": ("과", "와"),
    "(으)로": ("으로", "로"),
}
"""How a template writes a particle → after a consonant, after a vowel."""
_PARTICLE = re.compile(rf"([”’\"')\]}}]*)({'|'.join(map(re.escape, _PAIRS))})")
_ASIDE = re.compile(r"(?<=\w)\W*\([^()]*\)\W*$")
_LAST_WORD = re.compile(r"([A-Za-z]+|[0-9]|[가-힣]|%)(?:[^\w%]|_)*$")
_LOOKED_AT = 80
"""Characters before a particle: text of a submission may be long, and the patterns step back."""
_FIRST_HANGUL, _ENDINGS, _OPEN, _RIEUL = 0xAC00, 28, 0, 8
_DIGITS = {"0": "영", "1": "일", "2": "이", "3": "삼", "4": "사", "5": "오", "6": "육", "7": "칠",
           "8": "팔", "9": "구", "%": "트"}  # fmt: skip
_LETTERS = {"l": "엘", "r": "알", "m": "엠", "n": "엔"}
"""Letters whose names end in a consonant; all others end in a vowel."""
_LATIN_ENDINGS = (
    (re.compile(r"le?$"), "을"),
    (re.compile(r"(?:m|n|ng|[aeiouy][mn]e)$"), "은"),
    # A stop after one short vowel closes the syllable: set 셋, map 맵, but list 리스트, loop 루프.
    (re.compile(r"(?:^|[^aeiou])[aeiou](?:[ptkc]|ck)$|ype$|(?:in|out)put$"), "입"),
)


def with_particles(literal: str, before: str) -> str:
    """Return a template's text with the Korean particle that the word before it asks for.

    값이, 행을, x는, 3으로: the sound that ends the word before decides. Names and numbers that fill
    a sentence end in any letter. Hangul says its sound by its code. A digit and a single letter
    are read by their Korean names (3 삼, 7 칠, n 엔, x 엑스), a word in Latin letters roughly as
    it is said in Korean (tensor 텐서, file 파일, name 네임).

    Args:
        literal: Text between two blanks, such as ``”이(가) 없습니다. ``.
        before: What stands before it, blanks filled.
    """
    found = _PARTICLE.match(literal)
    sound = _syllable(before) if found else None
    if found is None or sound is None:
        return literal
    closing, form = found.groups()
    ending = (ord(sound) - _FIRST_HANGUL) % _ENDINGS
    # ㄹ counts as a vowel before 로 alone: 파일로, 파일을.
    open_ended = ending == _OPEN or (ending == _RIEUL and form == "(으)로")
    return f"{closing}{_PAIRS[form][open_ended]}{literal[found.end() :]}"


def _syllable(text: str) -> str | None:
    """Return a syllable that ends as the last word of a text sounds; None if nobody can know."""
    found = _LAST_WORD.search(_ASIDE.sub("", text[-_LOOKED_AT:]))
    word = found[1] if found else None
    if word is None or not word.isascii():
        return word
    if not word.isalpha():
        return _DIGITS[word]
    if len(word) == 1 or word.isupper():
        return _LETTERS.get(word[-1].lower(), "이")
    return next((sound for ending, sound in _LATIN_ENDINGS if ending.search(word.lower())), "이")
