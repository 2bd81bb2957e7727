"""``grader check`` without namespaces: the host's branches for macOS and Windows, forced.

The student process still runs on Linux here, so its own branches for other systems are not tried.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

import pytest
import toy_starter
from toy_starter import fill

from grader.cli import app as cli
from grader.sandbox.host import open as opening

pytestmark = pytest.mark.heavy


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_a_self_check_runs_without_namespaces(
    system: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = toy_starter.starter(tmp_path / "toy")
    fill(folder, "double", "    return x + x")
    fill(folder, "mean_of", "    return x.mean() + 1")

    def forked(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a sandbox of Linux was opened")

    monkeypatch.setattr(opening, "ForkServerSandbox", forked)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr("sys.argv", ["grader", "check", str(folder), "--all", "--fail"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr().out
    assert ended.value.code == 3
    assert "… double" in said
    assert "✗ mean_of" in said
