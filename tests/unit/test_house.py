"""The figures on how the package is cut count what they say."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from house import code_lines, functions, public_names, used_names


def test_comments_docstrings_and_blank_lines_are_no_code() -> None:
    assert code_lines('"""Doc."""\n\nx = 1  # why\n# more\ny = (\n    2)\n') == {3, 5, 6}


def test_a_function_has_its_lines_without_its_docstring() -> None:
    found = functions('def f():\n    """Doc.\n\n    More.\n    """\n    return 1\n')
    assert [(node.name, lines) for node, lines in found.items()] == [("f", 2)]


def test_uses_are_no_definitions_and_no_imports() -> None:
    source = "from a import b\ndef f(): ...\ndef _g(): f(); x.m()\nclass C: ...\n"
    assert sorted(used_names(source)) == ["f", "m", "x"]
    assert public_names(source) == {"f", "C"}
