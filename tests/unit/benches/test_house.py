"""The figures on how the package is cut count what they say."""

from __future__ import annotations

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
    assert sorted(house.used_names(source)) == ["f", "m", "x"]
    assert house.public_names(source) == {"f", "C"}
