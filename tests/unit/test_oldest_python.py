"""Everything that students and courses run can be read by Python 3.10.

Names of the standard library that are newer are mypy's to find: ``python_version`` in
``pyproject.toml``. ``tests/bench/versions.py`` runs what can be run on other versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults import no_faults

ROOT = Path(__file__).parents[2]
OLDEST = (3, 10)


def unreadable(path: Path) -> Iterator[str]:
    try:
        ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=OLDEST)
    except SyntaxError as error:
        yield f"line {error.lineno}: {error.msg}"


def test_the_oldest_python_can_read_every_file() -> None:
    files: dict[str, Path] = {}
    for folder in ("grader", "assignments", "reference", "starter"):
        here = {str(path.relative_to(ROOT)): path for path in (ROOT / folder).rglob("*.py")}
        assert here, folder
        files |= here
    no_faults(files, unreadable, f"write it as Python {'.'.join(map(str, OLDEST))} reads it")


def test_what_is_newer_would_be_found() -> None:
    with pytest.raises(SyntaxError):
        ast.parse("try:\n    f()\nexcept* OSError:\n    pass\n", feature_version=OLDEST)
