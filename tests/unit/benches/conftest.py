"""Benchmarks are imported when a test asks for one: they import plots and whole graders."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

Bench = Callable[[str], ModuleType]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Return the module of a file in ``tests/bench``."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "bench")
    return import_module
