"""The catalogues: every language has what the package says, and nothing that nobody says."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from faults import no_faults

import grader
from grader.report.html.render import SIGNS
from grader.report.messages import catalogue
from grader.report.messages.catalogue import ENGLISH, current, tables_of, words_in
from grader.report.messages.language import LANGUAGES, VARIABLE, choose
from grader.report.messages.words import MissingWordsError, Sentence
from grader.verdict import Code, Message, Param, Status

PACKAGE = Path(grader.__file__).parent
OTHERS = [language for language in LANGUAGES if language != "en"]
KOREAN = words_in("ko")
TEXTS = ("codes", "phrases", "labels")
"""Tables whose texts are no messages."""
_HANGUL = re.compile("[가-힣]")
_BLANK = re.compile(r"\{\w+\}")


def _templates(sentence: Sentence) -> list[str]:
    return [
        template for part in sentence for template in ((part,) if isinstance(part, str) else part)
    ]


def _blanks(template: str) -> list[str]:
    """Return the parameters of a template, each with how it is shown, sorted."""
    found = {(name, spec) for _, name, spec, _ in string.Formatter().parse(template) if name}
    return sorted(f"{name}:{spec}" if spec else name for name, spec in found)


def _needed(sentence: Sentence) -> set[str]:
    """The parameters that a sentence needs at least."""
    last = [part if isinstance(part, str) else part[-1] for part in sentence]
    return {blank.partition(":")[0] for template in last for blank in _blanks(template)}


def _ids(language: str) -> list[tuple[str, str]]:
    return [(table, name) for table, texts in tables_of(language).items() for name in texts]


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_the_same_ids_in_the_same_order(language: str) -> None:
    assert _ids(language) == _ids("en")


def test_no_id_stands_in_two_tables() -> None:
    messages = [name for table, name in _ids("en") if table not in (*TEXTS, "shared")]
    assert len(messages) == len(set(messages)) == len(ENGLISH.sentences)


EACH_IN_ITS_OWN = {
    "cause_known_mistake", "called", "author_message", "author_diagnosis", "author_hint", "price",
    "unreadable_file",
}  # fmt: skip
"""Messages with a sentence for each language, which prefers its own."""


def _translated_otherwise(place: tuple[str, str]) -> Iterator[str]:
    language, name = place
    ours, english = words_in(language).sentences.get(name), ENGLISH.sentences[name]
    if ours is None or ours == english:
        yield "is not translated"
        return
    if len(ours) != len(english):
        yield f"has {len(ours)} parts, and {len(english)} in English"
    blanks = [[_blanks(text) for text in _templates(each)] for each in (ours, english)]
    if name in EACH_IN_ITS_OWN:
        blanks = [sorted(each) for each in blanks]
    if blanks[0] != blanks[1]:
        yield f"has the parameters {blanks[0]}, and {blanks[1]} in English"


def _with_language(names: Iterable[str]) -> dict[str, tuple[str, str]]:
    places = [(language, name) for language in OTHERS for name in names]
    return {f"{language}.toml, {name}": (language, name) for language, name in places}


def test_a_message_has_the_same_parameters_in_the_same_choices() -> None:
    assert len(ENGLISH.sentences) > 250
    no_faults(
        _with_language(ENGLISH.sentences), _translated_otherwise,
        "give each language the parameters and choices of en.toml",
    )  # fmt: skip


def _filled_otherwise(place: tuple[str, str]) -> Iterator[str]:
    language, table = place
    ours, english = tables_of(language)[table], tables_of("en")[table]
    for name in ours.keys() | english.keys():
        blanks = [_blanks(texts[name]) if name in texts else None for texts in (ours, english)]
        if blanks[0] != blanks[1]:
            yield f"{name} has the parameters {blanks[0]}, and {blanks[1]} in English"


def test_a_text_has_the_same_parameters() -> None:
    no_faults(
        _with_language(TEXTS), _filled_otherwise, "give each language the parameters of en.toml"
    )


def _unshared(language: str) -> Iterator[str]:
    text = (Path(catalogue.__file__).parent / f"{language}.toml").read_text(encoding="utf-8")
    for name in tables_of(language)["shared"]:
        if (uses := text.count(f'"@{name}"')) < 2:
            yield f"{name} is used {uses} times"


def test_every_shared_part_is_shared() -> None:
    no_faults(
        {f"{language}.toml": language for language in LANGUAGES}, _unshared,
        "write a part that one message uses into that message",
    )  # fmt: skip


SAME_IN_KOREAN = {"not_finite", "made_by", "bin", "bin_full"}
"""Texts of numbers and names alone."""


def test_korean_is_korean() -> None:
    for sentence in KOREAN.sentences.values():
        for text in _templates(sentence):
            assert _HANGUL.search(text) or "{type}" in text or _BLANK.fullmatch(text), text
    for table in TEXTS:
        for name, text in tables_of("ko")[table].items():
            assert name in SAME_IN_KOREAN or _HANGUL.search(text), name


_TAKES_ID = {
    "Message": 0, "InTheWay": 0, "NotTimedError": 0, "bad": 0, "say": 0, "_say": 0, "finding": 1,
    "earned": 1, "_elsewhere": 0, "_review": 0, "_too_much": 0, "_wrong": 0,
}  # fmt: skip
"""Where the functions that make messages take the id."""
_WITH_ALL_PARAMETERS = {"Message", "bad", "finding"}
"""Those that are given the parameters, too."""


def _trees() -> Iterator[ast.AST]:
    for path in PACKAGE.rglob("*.py"):
        yield ast.parse(path.read_text(encoding="utf-8"))


def _made() -> Iterator[tuple[str, str, set[str]]]:
    """Yield each id that the package gives to a message, who takes it, and its parameters."""
    for tree in _trees():
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = ast.unparse(call.func).rpartition(".")[2]
            position = _TAKES_ID.get(name, len(call.args))
            for found in _strings(call.args[position : position + 1]):
                yield found, name, _params(call)


def _strings(nodes: Iterable[ast.expr | None]) -> list[str]:
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return [value for value in constants if isinstance(value, str)]


def _params(call: ast.Call) -> set[str]:
    dicts = [argument for argument in call.args if isinstance(argument, ast.Dict)]
    keys = [name for found in dicts for name in _strings(found.keys)]
    return {*keys, *(keyword.arg for keyword in call.keywords if keyword.arg)}


def test_every_message_of_the_package_has_a_sentence() -> None:
    ids = {name for name, _, _ in _made()}
    assert {"no_device", "wrong_shape", "too_large", "wrong_folder", "packed"} <= ids
    # A check of loops names what it reviews, and puts “loops_” before it.
    known = ENGLISH.sentences.keys()
    assert {name for name in ids if name not in known and f"loops_{name}" not in known} == set()


def test_every_message_fills_its_sentence() -> None:
    lacking = {
        name: _needed(ENGLISH.sentences[name]) - params
        for name, maker, params in _made()
        if params and maker in _WITH_ALL_PARAMETERS
        and not _needed(ENGLISH.sentences[name]) <= params
    }  # fmt: skip
    assert lacking == {}


_PREFIXES = (
    "argument_", "cause_", "f_", "flag_", "hidden_", "is_", "loops_", "not_source_", "tip_",
)  # fmt: skip
"""Ids that begin so are put together where they are used: the rest is a word there."""


def test_every_id_is_used() -> None:
    words = {
        node.value
        for tree in _trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    templates = (PACKAGE / "report" / "html" / "templates").iterdir()
    words |= {word for path in templates for word in re.findall(r'"(\w+)"', path.read_text())}
    words |= {str(number) for number in range(3)}
    unused = [
        name
        for table, name in _ids("en")
        if table != "shared" and name not in words
        and not any(name.startswith(each) and name[len(each) :] in words for each in _PREFIXES)
    ]  # fmt: skip
    assert unused == []


def test_every_code_and_every_status_has_words() -> None:
    assert {code.value for code in Code} == ENGLISH.codes.keys()
    for status in Status:
        assert status.value in SIGNS
        assert status.value in ENGLISH.labels


def test_every_cause_of_the_package_has_a_sentence() -> None:
    texts = [path.read_text() for path in (PACKAGE / "checks").rglob("*.py")]
    found = {
        f"cause_{name.value}"
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == "cause"
        for name in ast.walk(value)
        if isinstance(name, ast.Constant)
    }
    causes = tables_of("en")["causes"].keys()
    assert found <= causes
    assert causes - found == {
        "cause_square_only", "cause_wrong_partner", "cause_known_mistake",
    } - found  # fmt: skip


HEADINGS = {
    "counted_lines",
    "hides_builtin",
    "lay",
    "happened",
    "runs_at_line",
    "runs_while_loading",
    "shown_case",
    "shown_printed",
}
"""What lines follow: they end with a colon."""
OF_A_VALUE = {
    "element", "shown_after", "shown_argument", "shown_changed", "shown_expected", "shown_items",
    "shown_more",
    "shown_returned", "shown_wrong",
}  # fmt: skip
"""What is said of one value, or of one square of a picture, and no sentence."""


def _unsayable(name: str) -> Iterator[str]:
    params: dict[str, Param] = dict.fromkeys(_needed(ENGLISH.sentences[name]), 7)
    try:
        text = replace(ENGLISH, strict=True).render(Message(name, params))
    except MissingWordsError as error:
        yield f"cannot be filled: {error}"
        return
    if not text:
        yield "says nothing"
    elif name not in OF_A_VALUE:
        # A sentence may begin with a command that is quoted.
        if not (text[0].isupper() or text[0].isdigit() or text.startswith("“grader ")):
            yield f"begins small: {text}"
        if text[-1] not in (":" if name in HEADINGS else ".?!7"):
            yield f"does not end as a sentence: {text}"


def test_every_sentence_can_be_said() -> None:
    no_faults(
        {name: name for name in ENGLISH.sentences}, _unsayable,
        "write a whole sentence into en.toml",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("chosen", "locale", "language"),
    [
        (None, "ko_KR.UTF-8", "ko"),
        (None, "en_GB.UTF-8", "en"),
        (None, None, "en"),
        ("en", "ko_KR.UTF-8", "en"),
        ("ko", "C", "ko"),
        ("fr", "ko_KR.UTF-8", "ko"),
    ],
)
def test_what_was_chosen_comes_before_the_locale(
    chosen: str | None, locale: str | None, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (VARIABLE, "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    if locale:
        monkeypatch.setenv("LANG", locale)
    if chosen:
        monkeypatch.setenv(VARIABLE, chosen)
    assert current() is words_in(language)


def test_choosing_is_for_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "en")
    choose("ko")
    assert current() is KOREAN


def test_a_sentence_is_filled_in_korean() -> None:
    message = Message("wrong_shape", {"actual": "(3,)", "expected": "(1, 3)"})
    assert KOREAN.render(message) == "shape: (3,), 맞는 값: (1, 3)."
    assert ENGLISH.render(message) == "Shape is (3,), expected (1, 3)."
