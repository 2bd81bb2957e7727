"""Messages become sentences: the blanks of a template are filled with bounded, harmless text.

Defends against: text of a submission that carries control characters, escapes, endless length or
format fields of its own; a template that reaches into an object; a missing sentence (the grade
stands, the message falls back to its id and parameters); a hidden case that speaks through its
exception's text, name or line.
"""

from __future__ import annotations

import re
import signal
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Union

from grader.text import inert, long_integer
from grader.verdict import Code, Message, Param, Status, Verdict

if TYPE_CHECKING:
    from grader.submission.submission import CellMap

Part = Union[str, tuple[str, ...]]
"""A template, or several of which the first that can be filled is taken."""
Sentence = tuple[Part, ...]

MAX_TEXT = 2000
_MAX_PARAM = 500
_MAX_LINE = 99_999
_MAX_DIGITS_BITS = 256
_LARGEST = 1e15
_SHOWN_ITEMS = 12
_ENDS = ".!?:…"
_CAUSE = "cause_"
"""Before the id of a relation between a wrong answer and the right one."""
_AUTHORED = tuple(
    f"{text}_{language}"
    for text in ("says", "author", "hint", "diagnosis")
    for language in ("en", "ko")
)
"""Parameters that hold an author's sentences, the same whatever the inputs are."""
_KNOWN_EXCEPTIONS = frozenset({
    "ArithmeticError", "AssertionError", "AttributeError", "EOFError", "FileNotFoundError",
    "ImportError", "IndexError", "KeyError", "LinAlgError", "MemoryError", "ModuleNotFoundError",
    "NameError", "NotImplementedError", "OSError", "OutOfMemoryError", "OverflowError",
    "PermissionError", "RecursionError", "RuntimeError", "StopIteration", "SystemExit",
    "TypeError", "UnboundLocalError", "UnicodeDecodeError", "ValueError", "ZeroDivisionError",
})  # fmt: skip
"""What mistakes raise in Python, torch and numpy. A class name is the student's to choose, and
could spell out a hidden input; so could the choice among many, hence not all that Python has."""


class MissingWordsError(LookupError):
    """A message has no sentence, or lacks what its sentence needs. Seen in tests only."""


@dataclass(frozen=True)
class Words:
    """The words of one language.

    Attributes:
        sentences: Message id → sentence.
        codes: Verdict code → a few words.
        phrases: Frames, by the names used below.
        labels: What stands on pages beside messages, by name.
        strict: Raise where words are missing instead of falling back; for tests.
        notebooks: File that was made from a notebook → the notebook's name, and its cells. Lines of
            such a file are told by their cell.
    """

    sentences: Mapping[str, Sentence]
    codes: Mapping[str, str]
    phrases: Mapping[str, str]
    labels: Mapping[str, str]
    strict: bool = False
    notebooks: Mapping[str, tuple[str, CellMap]] = field(default_factory=dict)

    def render(self, message: Message) -> str:
        """Return the sentence of a message, everything in it included.

        Raises:
            MissingWordsError: It has none that can be filled, and ``strict`` is on.
        """
        params = {**message.params, "input": self._input(message.params.get("name"))}
        called = self._sentence("called", params)
        if called:
            place = show(params.get("place", ""))
            params["where"] = f"{called} ({place})" if place else called
        params |= self._in_cell(params)
        text = self._sentence(message.id, params)
        # A plain word begins its sentence with a capital; a name of code stays as it is.
        first = called.split(" ")[0]
        if text.startswith(called) and first.isascii() and first.isalpha():
            text = text[0].upper() + text[1:]
        # Where questions stand in several files, a sentence on a line says in which.
        if text and params.get("in_file") and not self._names_file(message.id):
            text = f"{show(params['in_file'])}: {text}"
        return inert(self._beside(text or self._fallback(message), message, params), MAX_TEXT)

    def _in_cell(self, params: Mapping[str, Param]) -> dict[str, Param]:
        """Return what names a line of a notebook as its reader finds it; empty for other files."""
        file, line = params.get("file") or next(iter(self.notebooks), None), params.get("line")
        # Anything may stand there: a student process can name a file of its own making.
        if not isinstance(file, str) or file not in self.notebooks or type(line) is not int:
            return {}
        name, cells = self.notebooks[file]
        place = cells.cell_of(line)
        if place is None:
            return {}
        text = _CellLine(self._phrase("in_cell", cell=place[0], line=place[1]))
        return {"line": text, "file": name} if params.get("file") else {"line": text}

    def _names_file(self, name: str) -> bool:
        return "{file}" in str(self.sentences.get(name, ()))

    def for_staff(self, verdict: Verdict) -> str:
        """Return everything there is to say about a verdict."""
        if verdict.message is None:
            return "" if verdict.status is Status.PASSED else self._code(verdict.code)
        text = self.render(verdict.message)
        if not verdict.case or verdict.code is Code.NOT_IMPLEMENTED:
            return text
        return f"{self._phrase('case', case=verdict.case)} {text}"

    def for_student(self, verdict: Verdict) -> str:
        """Return what the student may read.

        On a hidden case that is the verdict's code, and of an exception its type; on a fault of
        the grader or of the reference, that it is not the student's.
        """
        if verdict.status is Status.ERROR:
            return self._phrase("grader_fault", what=self._code(verdict.code))
        # Past this line the case is hidden: only codes and known exception types, for texts and
        # numbers may carry its inputs.
        if not verdict.hidden or verdict.status is Status.PASSED:
            return self.for_staff(verdict)
        if verdict.code is Code.RAISED and verdict.message is not None:
            return self._phrase("hidden", what=self._known(verdict.message.params.get("type")))
        text = self._phrase("hidden", what=self._code(verdict.code))
        if verdict.message is None:
            return text
        # Without the numbers of the message: a cause is a relation, its blanks could be inputs.
        # What an author says of a check or of a known mistake knows no inputs.
        params = verdict.message.params
        authored = {name: said for name, said in params.items() if name in _AUTHORED}
        return self._beside(text, verdict.message, authored)

    def _beside(self, text: str, message: Message, params: Mapping[str, Param]) -> str:
        """Return a text between the author's sentences, with the relation that the message names.

        Args:
            text: What the grader says.
            message: Of which verdict.
            params: Those of its parameters that may be told.
        """
        cause = f"{_CAUSE}{message.params.get('cause')}"
        names = ("author_message", cause, "author_diagnosis", "author_hint")
        first, *after = (self._sentence(name, params) for name in names)
        return _joined((first, text, *after))

    def _sentence(self, name: str, params: Mapping[str, Param]) -> str:
        """Return a sentence with what can be filled of it; empty if it is not known."""
        return _joined(_fill(part, params) for part in self.sentences.get(name, ()))

    def _known(self, name: Param) -> str:
        """Return an exception's type, or that it is another.

        Never its line: of a file with thousands of lines that raise, the choice among them told
        two hidden numbers at a time.
        """
        honest = isinstance(name, str) and name in _KNOWN_EXCEPTIONS
        return str(name) if honest else self.phrases["own_exception"]

    def _phrase(self, phrase: str, /, **params: Param) -> str:
        return FORMATTER.vformat(self.phrases[phrase], (), params)

    def _input(self, name: Param) -> str:
        """Return an input as readers know it: by its name, or by its place among the arguments."""
        if type(name) is not int:
            return self._phrase("input", name=name) if name else ""
        known = f"argument_{name}"
        return self._phrase(known if known in self.phrases else "argument_n", number=name + 1)

    def _code(self, code: Code) -> str:
        if code.value in self.codes:
            return self.codes[code.value]
        if self.strict:
            raise MissingWordsError(f"no words for the code “{code.value}”")
        return code.value

    def _fallback(self, message: Message) -> str:
        if self.strict:
            raise MissingWordsError(f"no sentence for “{message.id}” with {sorted(message.params)}")
        params = ", ".join(f"{name}={show(value)}" for name, value in message.params.items())
        return f"{message.id} ({params})" if params else message.id


def _joined(parts: Iterable[str]) -> str:
    """Return sentences in a row; one that ends in somebody else's words gets a full stop."""
    *before, last = [part for part in parts if part] or [""]
    ended = (part if part[-1:] in _ENDS else f"{part}." for part in before)
    return " ".join((*ended, last))


def _fill(part: Part, params: Mapping[str, Param]) -> str:
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
        return _tuple(value)
    # str() of a huge integer takes quadratic time, and Python refuses it above 4,300 digits.
    if isinstance(value, int) and value.bit_length() > _MAX_DIGITS_BITS:
        return long_integer(value)
    return inert(str(value), _MAX_PARAM)


def _tuple(items: list[Param]) -> str:
    shown = [show(item) for item in items[:_SHOWN_ITEMS]]
    if len(items) > _SHOWN_ITEMS:
        shown.append("…")
    inside = ", ".join(shown)
    return inert(f"({inside},)" if len(items) == 1 else f"({inside})", _MAX_PARAM)


class _CellLine(str):
    """A line's number, with the cell that it stands in."""


def line_text(value: Param) -> str:
    """Return a line's number.

    Raises:
        UnfillableError: It is unknown, or no line of any file.
    """
    if isinstance(value, _CellLine):
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


def _size(value: Param) -> str:
    if type(value) is not int:
        return show(value)
    return f"{value >> 20} MiB" if value >= 1 << 20 else f"{value} bytes"


_SPECS: dict[str, Callable[[Param], str]] = {
    "index": _index,
    "last": _last,
    "line": line_text,
    "most": _most,
    "names": _names,
    "part": _part,
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
