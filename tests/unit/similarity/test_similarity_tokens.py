"""What is left of a hand-in when names and layout do not count."""

from __future__ import annotations

import json

import pytest

from grader.similarity.tokens import pack, tokenise, unpack


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("total = x + 1", "s = y+1  # add"),
        ("def f(x):\n    return x", "def g(y):\n\n    return y"),
        ('def f(x):\n    """Doc."""\n    return x', "def f(x):\n    return x"),
        ("self.a = 1", "self.other = 1"),
        ("s = 'one'", 's = "another"'),
        ("x = f(\n    a,\n    b)", "x = f(a, b)"),
    ],
)
def test_what_makes_no_difference(one: str, other: str) -> None:
    assert tokenise(one).document == tokenise(other).document != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x.sum()", "x.mean()"),
        ("x + 1", "x - 1"),
        ("x[0]", "x[1]"),
        ("for i in x: pass", "while i: pass"),
        ("sum(x)", "max(x)"),
        ("torch.self.a", "torch.self.b"),
    ],
)
def test_what_does(one: str, other: str) -> None:
    # A library's names after "self" are the one exception, and only right after it.
    same = "self" in one
    assert (tokenise(one).document == tokenise(other).document) is same


def test_tokens_know_where_they_stood() -> None:
    text = "# note\nname = f'a{b}c' + 'd'\n"
    tokens = tokenise(text)
    stood = [text[a:b] for a, b in zip(tokens.starts, tokens.ends, strict=True)]
    assert stood[:2] == ["name", "="]
    assert stood[-2:] == ["+", "'d'"]


def test_there_and_back() -> None:
    tokens = tokenise("x = 1\n")
    assert unpack(pack(tokens)) == tokens


@pytest.mark.parametrize(
    "answer",
    [b"", b"[]", b"[[1],[2],[]]", b"[[1],[-1],[2]]", b"[1,2,3]", b'[["a"],[1],[1]]',
     json.dumps([[2**40], [0], [1]]).encode(), b"[" * 100_000],
)  # fmt: skip
def test_an_answer_that_is_none_is_refused(answer: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  JSON's own error is one
        unpack(answer)


@pytest.mark.parametrize(
    "text", ["", "def f(:\n", "\x00\x01", "'" * 5000, "(" * 50_000, "if x:\n\t y"]
)
def test_text_that_is_no_python_is_taken_as_it_comes(text: str) -> None:
    tokens = tokenise(text)
    assert len(tokens.document) == len(tokens.starts) == len(tokens.ends)


FORM = "def f(x, k):\n    return sum(x, dim=k)[0, 1]\n\n\ny = {'a': 1}\n"


@pytest.mark.parametrize(
    "other",
    [
        'def g(t, d):\n    """Mine."""\n    return (sum((t), dim=(d),)[(0, 1)])\n\ny = {"b": 1,}\n',
        "import torch\nprint(max(1))",
        "def f(x, k):\n    return max(x, dim=k)[0, 1]\n\n\ny = {'a': 1}\n",
        "def f(x, k):\n    return sum(x, dim=k)[0, 2]\n\n\ny = {'a': 1}\n",
        "def f(:\n",
    ],
)
def test_forms_are_the_same_for_names_and_formatting_alone(other: str) -> None:
    assert (tokenise(other).forms == tokenise(FORM).forms) is ("Mine" in other)


def test_a_name_that_hides_a_builtin_is_a_name() -> None:
    mine, theirs = "def f(sum):\n    return sum\n", "def f(total):\n    return total\n"
    assert tokenise(mine).document != tokenise(theirs).document
    assert tokenise(mine).forms == tokenise(theirs).forms
