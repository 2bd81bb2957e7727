"""Everything that students and courses run can be read by Python 3.10.

Names of the standard library that are newer are mypy's to find: ``python_version`` in
``pyproject.toml``. ``tests/bench/versions.py`` runs what can be run on other versions.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OLDEST = (3, 10)


@pytest.mark.parametrize("folder", ["grader", "assignments", "reference", "starter"])
def test_the_oldest_python_can_read_every_file(folder: str) -> None:
    paths = sorted((ROOT / folder).rglob("*.py"))
    assert paths
    for path in paths:
        ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=OLDEST)


def test_what_is_newer_would_be_found() -> None:
    with pytest.raises(SyntaxError):
        ast.parse("try:\n    f()\nexcept* OSError:\n    pass\n", feature_version=OLDEST)
