"""The figures on how the package is cut count what they say."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import ModuleType

import pytest


@pytest.fixture
def house(bench: Callable[[str], ModuleType]) -> ModuleType:
    return bench("house")


def test_comments_docstrings_and_blank_lines_are_no_code(house: ModuleType) -> None:
    assert house.code_lines('"""Doc."""\n\nx = 1  # why\n# more\ny = (\n    2)\n') == {3, 5, 6}


def test_a_function_has_its_lines_without_its_docstring(house: ModuleType) -> None:
    found = house.functions('def f():\n    """Doc.\n\n    More.\n    """\n    return 1\n')
    assert [(node.name, lines) for node, lines in found.items()] == [("f", 2)]


def test_uses_are_no_definitions_and_no_imports(house: ModuleType) -> None:
    source = "from a import b\ndef f(): ...\ndef _g(): f(); x.m()\nclass C: ...\n"
    assert sorted(house.used_names(ast.parse(source))) == ["f", "m", "x"]
    assert house.public_names(source) == {"f", "C"}


def test_a_walk_asks_for_a_container_and_calls_itself(house: ModuleType) -> None:
    source = (
        "def f(x): return [f(y) for y in x] if isinstance(x, (tuple, list)) else x\n"
        "def g(x): return g(x - 1) if x else isinstance(x, list)\n"
        "def h(x): return h(x - 1) if x else 0\n"
        "def k(x): return f(x) if type(x) is dict else x\n"
    )
    assert list(house.walks(source)) == ["f", "g"]
