"""Check kinds are found, and nothing outside their package asks which class a check is of."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults import no_faults

import grader
from grader import checks
from grader.checks.base import Check

PACKAGE = Path(grader.__file__).parent
CLASSES = {cls.__name__ for cls in checks.KINDS.values()}


def _judged_elsewhere(kind: type[Check]) -> Iterator[str]:
    if not kind.judge.__module__.startswith("grader.checks."):
        yield f"is judged in {kind.judge.__module__}"
    if getattr(kind.judge, "__isabstractmethod__", False):
        yield "has no judge"


def test_a_kind_is_judged_in_its_own_file_or_in_what_its_family_shares() -> None:
    no_faults(checks.KINDS, _judged_elsewhere, "write its `judge` into its file in grader/checks/")


def test_nothing_outside_imports_the_class_of_a_kind() -> None:
    # Whoever imports one would have to be changed for each new kind.
    outside = [path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE / "checks"]
    assert len(outside) > 100
    found = [
        (path.name, name.name)
        for path in outside
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("grader.checks")
        for name in node.names
        if name.name in CLASSES
    ]
    assert found == []


def test_two_classes_of_one_kind_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'from grader.checks.values import Exact\n\n\nclass Twin(Exact):\n    """Also exact."""\n'
    (tmp_path / "twin.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(checks, "__path__", [*checks.__path__, str(tmp_path)])
    try:
        with pytest.raises(TypeError, match="“exact” is both"):
            checks._find_kinds()
    finally:
        sys.modules.pop("grader.checks.twin", None)
