"""YAML text → data and lines: what scalars mean, what is refused, and on which line."""

from __future__ import annotations

import math

import pytest

from grader.assignment import document
from grader.assignment.document import read_document
from grader.errors import AssignmentError


def problems(text: str | bytes) -> str:
    content = text.encode() if isinstance(text, str) else text
    with pytest.raises(AssignmentError) as caught:
        read_document("a.yml", content)
    return str(caught.value)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"), ("on", "on"), ("true", True), ("False", False), ("null", None), ("~", None),
        ("", None), ("''", ""), ("'5'", "5"), ("5", 5), ("-3", -3), ("0x1F", 31), ("010", "010"),
        ("12:30", "12:30"), ("1_000", "1_000"), ("2024-01-01", "2024-01-01"), ("1.0", 1.0),
        ("1.", 1.0), (".5", 0.5), ("1e-5", 1e-5), ("1.5E+3", 1500.0), (".inf", math.inf),
        ("-.inf", -math.inf), ("!!str 5", "5"), ("!!float 5", 5.0),
    ],
)  # fmt: skip
def test_scalars_mean_what_they_mean_in_editors(written: str, value: object) -> None:
    found = read_document("a.yml", f"key: {written}\n".encode()).data["key"]
    assert (type(found), found) == (type(value), value)


def test_nan_is_a_number() -> None:
    assert math.isnan(read_document("a.yml", b"[.nan]").data[0])


def test_every_part_knows_its_line() -> None:
    text = "a:\n  - b: 1\n    c:\n      [2,\n       3]\nd: &x\n  e: 4\nf: *x\n"
    read = read_document("a.yml", text.encode())
    assert read.lines[("a",)] == 1
    assert read.lines[("a", 0)] == read.lines[("a", 0, "b")] == 2
    assert read.lines[("a", 0, "c")] == 3
    assert read.lines[("a", 0, "c", 1)] == 5
    assert read.lines[("f", "e")] == 7  # where it was written, not where it was repeated
    assert read.written[("a", 0, "c", 1)] == "3"


def test_a_problem_without_a_line_of_its_own_takes_the_nearest_around_it() -> None:
    found = read_document("a.yml", b"a:\n  b: 1\n").problem(("a", "b", "missing", 0), "is odd")
    assert str(found) == "a.yml:2: a.b.missing[0]: is odd"


def test_a_byte_order_mark_and_crlf_change_nothing() -> None:
    assert read_document("a.yml", b"\xef\xbb\xbfa: 1\r\nb: 2\r\n").data == {"a": 1, "b": 2}


def test_aliases_may_repeat_a_part() -> None:
    assert read_document("a.yml", b"a: &x [1]\nb: *x\n").data == {"a": [1], "b": [1]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a:\n\tb: 1", "a.yml:2: not valid YAML: while scanning for the next token, found"),
        ("a:\n\tb: 1", "indented with spaces, never with tabs"),
        ("a: 1\n b: 2", "a.yml:2: not valid YAML: mapping values are not allowed here"),
        ("a:\n  b: 1\n c: 2", "keys beside one another need the same indentation"),
        ("a: [1,2", "a.yml:1: not valid YAML: while parsing a flow sequence"),
        ("a: *x", "a.yml:1: not valid YAML: found undefined alias 'x'"),
        ("--- a\n--- b", "a.yml:2: not valid YAML: expected a single document"),
        ("", "a.yml: the file is empty"),
        ("# only a comment\n", "a.yml: the file is empty"),
        ("a: 1\nb: 2\na: 3", "a.yml:3: a: “a” is here a second time, after line 1"),
        ("1: x", "a.yml:1: 1: 1 is no text; as a key write “'1'”"),
        ("true: x", "a.yml:1: true: true is no text"),
        ("? [a]\n: 1", "a.yml:1: a key must be a word, found a list or mapping"),
        ("a: !!python/object/apply:os.getcwd []", "a.yml:1: a: the tag !!python/object/apply"),
        ("a: !!set {b: 1}", "a.yml:1: a: the tag !!set is not allowed here"),
        ("a: !!int x", "a.yml:1: a: “x” cannot be read as !!int"),
        ("a: " + "9" * 5000, "cannot be read as !!int"),
        ("a:\nb: \x01", "a.yml:2: character 0x01 is not allowed in YAML"),
        ("[" * 600, "a.yml: nested too deeply"),
        ("a: &a [*a]", "expands to more than 40 levels"),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    assert said in problems(text)


def test_other_encodings_are_named_by_their_byte() -> None:
    assert problems("a: 1".encode("utf-16")) == (
        "a.yml:1: byte 0xff is not UTF-8; save the file as UTF-8"
    )
    assert problems(b"a: 1\nb: \xe9").startswith("a.yml:2: byte 0xe9")


def test_a_billion_laughs_stop_early() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert "expands to more than 50000 values" in problems("\n".join(rows))


def test_a_huge_file_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_BYTES", 10)
    assert problems("a: " + "x" * 20) == "a.yml: found 23 bytes; the most is 10"


def test_all_duplicates_are_listed() -> None:
    assert len(problems("a: 1\na: 2\nb: 1\nb: 2").splitlines()) == 2
