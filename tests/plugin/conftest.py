from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import toy_starter

from grader.integrations import pytest_items  # noqa: F401  or each inner session imports it anew
from grader.report.messages.language import VARIABLE
from grader.selfcheck import warm_sandbox

_OTHERS = ("-p", "no:hypothesispytest", "-p", "no:xdist")
"""Plugins that an inner session would import anew, for seconds."""


@pytest.fixture
def folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh starter, in which one is; checks run behind walls that stand already."""
    monkeypatch.setenv(VARIABLE, "en")
    monkeypatch.setattr(warm_sandbox, "_open", lambda _: toy_starter.lent())
    place = toy_starter.starter(pytester.path / "toy")
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def run(pytester: pytest.Pytester, folder: Path) -> Callable[..., pytest.RunResult]:
    """Run pytest there, in this process."""

    def inline(*args: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess(*_OTHERS, f"--rootdir={folder}", *args)

    return inline
