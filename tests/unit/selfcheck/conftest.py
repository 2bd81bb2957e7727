from __future__ import annotations

from pathlib import Path

import pytest
import toy_starter

from grader.report.messages.language import VARIABLE
from grader.selfcheck import warm_sandbox


@pytest.fixture
def lent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let self-checks run behind walls that stand already, and speak English."""
    monkeypatch.setenv(VARIABLE, "en")
    monkeypatch.setattr(warm_sandbox, "_open", lambda _: toy_starter.lent())


@pytest.fixture
def folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lent: None
) -> Path:
    """A fresh starter, which is the current folder; the terminal is as wide as COLUMNS says."""
    place = toy_starter.starter(tmp_path / "toy")
    monkeypatch.chdir(place)
    if (columns := getattr(request.module, "COLUMNS", None)) is not None:
        monkeypatch.setenv("COLUMNS", columns)
    return place
