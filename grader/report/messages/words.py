"""Messages become sentences: the blanks of a template are filled with bounded, harmless text.

Defends against: text of a submission that carries control characters, escapes, endless length or
format fields of its own; a template that reaches into an object; a missing sentence (the grade
stands, the message falls back to its id and parameters); a hidden case that speaks through its
exception's text, name or line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from grader.report.messages.templates import FORMATTER, CellLine, Part, fill, show
from grader.text import inert
from grader.verdict import Code, Message, Param, Status, Verdict

if TYPE_CHECKING:
    from grader.submission.submission import CellMap

Sentence = tuple[Part, ...]

MAX_TEXT = 2000
_ENDS = ".!?:…"
_CAUSE = "cause_"
"""Before the id of a relation between a wrong answer and the right one."""
_AUTHORED = (
    *(f"{text}_{to}" for text in ("says", "author", "hint", "diagnosis") for to in ("en", "ko")),
    "price_earned",
    "price_worth",
    *(
        f"{told}_{at}"
        for told in ("mended", "partly_mended", "twice_mended", "then_known")
        for at in ("line", "start")
    ),
    "right_cases",
    "of_cases",
)
"""Parameters that hold an author's sentences, or a price: the same whatever the inputs are."""
_APART = (
    "inputs_dtype", "inputs_empty", "inputs_size_one", "inputs_not_square", "inputs_axes", "full",
)  # fmt: skip
"""Parameters that tell of the host's own inputs, see ``grader.checks.hidden_case``, and the bar
that a figure has to reach."""
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

    def for_notebooks(self, files: Iterable[tuple[str, str, CellMap | None]]) -> Words:
        """Return the same words, which tell lines of notebooks by their cells.

        Args:
            files: Name of each submitted file in grading, the notebook that it was made from, and
                its cells; None for a file that was none.
        """
        notebooks = {
            known: (notebook, cells)
            for file, notebook, cells in files
            if cells is not None
            for known in (file, notebook)
        }
        return replace(self, notebooks=notebooks) if notebooks else self

    def label(self, name: str, /, **blanks: object) -> str:
        """Return a label with its blanks filled."""
        return self.labels[name].format_map(blanks)

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
        params |= self._in_cell(message.id, params)
        text = self._sentence(message.id, params)
        # A plain word begins its sentence with a capital; a name of code stays as it is.
        first = called.split(" ")[0]
        if text.startswith(called) and first.isascii() and first.isalpha():
            text = text[0].upper() + text[1:]
        # Where questions stand in several files, a sentence on a line says in which.
        named = "{file}" in str(self.sentences.get(message.id, ()))
        if text and params.get("in_file") and not named:
            text = f"{show(params['in_file'])}: {text}"
        return inert(self._beside(text or self._fallback(message), message, params), MAX_TEXT)

    def _in_cell(self, name: str, params: Mapping[str, Param]) -> dict[str, Param]:
        """Return what names a line of a notebook as its reader finds it; empty for other files."""
        file, line = params.get("file") or next(iter(self.notebooks), None), params.get("line")
        # Anything may stand there: a student process can name a file of its own making.
        if not isinstance(file, str) or file not in self.notebooks or type(line) is not int:
            return {}
        notebook, cells = self.notebooks[file]
        place = cells.cell_of(line)
        if place is None:
            return {}
        told: dict[str, Param] = dict.fromkeys({"file", "in_file"} & params.keys(), notebook)
        told["line"] = CellLine(self._phrase("in_cell", cell=place[0], line=place[1]))
        if name == "syntax_error" and isinstance(said := params.get("message"), str):
            told["message"] = _PYTHONS_LINE.sub(partial(_in_its_cell, cells), said)
        return told

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
        if verdict.message is None:
            return self._phrase("hidden", what=self._code(verdict.code))
        if verdict.code is Code.RAISED:
            return self._hidden(verdict, self._known(verdict.message.params.get("type")))
        text = self._hidden(verdict, self._code(verdict.code))
        # Without the numbers of the message: a cause is a relation, its blanks could be inputs.
        # What an author says of a check or of a known mistake knows no inputs.
        params = verdict.message.params
        authored = {name: said for name, said in params.items() if name in _AUTHORED}
        # Where the only loop of a function's text stands is no secret of a case.
        told = {name: params[name] for name in ("line", "loop", "file") if name in params}
        loop = self.render(Message("only_loop", told)) if params.get("only_loop") else ""
        return _joined((self._beside(text, verdict.message, authored), loop))

    def _hidden(self, verdict: Verdict, what: str) -> str:
        """Return what is told of a hidden case, with what sets the host's inputs of it apart."""
        told = verdict.message.params if verdict.message else {}
        apart = next((name for name in _APART if name in told), "")
        if not apart:
            return self._phrase("hidden", what=what)
        return self._phrase(f"hidden_{apart}", what=what, **{apart: told[apart]})

    def _beside(self, text: str, message: Message, params: Mapping[str, Param]) -> str:
        """Return a text between the author's sentences, with the relation that the message names.

        Args:
            text: What the grader says.
            message: Of which verdict.
            params: Those of its parameters that may be told.
        """
        cause = f"{_CAUSE}{message.params.get('cause')}"
        names = ("author_message", cause, "price", "author_diagnosis", "author_hint")
        first, *after = (self._sentence(name, params) for name in names)
        return _joined((first, text, *after))

    def _sentence(self, name: str, params: Mapping[str, Param]) -> str:
        """Return a sentence with what can be filled of it; empty if it is not known."""
        return _joined(fill(part, params) for part in self.sentences.get(name, ()))

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


_PYTHONS_LINE = re.compile(r"\bon line ([0-9]{1,5})\b")
"""Where Python's own text on a syntax error names a further line, such as that of a bracket."""


def _in_its_cell(cells: CellMap, found: re.Match[str]) -> str:
    """Return the same in a notebook; in English, as the text around it is."""
    place = cells.cell_of(int(found[1]))
    return f"on line {place[1]} of code cell {place[0]}" if place else found[0]
