from __future__ import annotations

import pytest
import toy_starter

from grader.report.messages.catalogue import VARIABLE
from grader.selfcheck import spare


@pytest.fixture
def lent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let self-checks run behind walls that stand already, and speak English."""
    monkeypatch.setenv(VARIABLE, "en")
    monkeypatch.setattr(spare, "_open", lambda _: toy_starter.lent())
