"""``grader desk`` says what is missing before it serves anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.cli import app as cli
from grader.cli import desk as cli_desk


def refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: object
) -> str:
    monkeypatch.setattr("sys.argv", ["grader", "desk", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    return " ".join(capsys.readouterr().err.split())


def test_no_such_folder(monkeypatch, capsys, tmp_path: Path) -> None:
    assert "there is no such folder" in refused(monkeypatch, capsys, tmp_path / "nowhere")


def test_no_batch_in_the_folder(monkeypatch, capsys, tmp_path: Path) -> None:
    assert "no batch was begun there" in refused(monkeypatch, capsys, tmp_path)


def test_a_name_twice(monkeypatch, capsys, tmp_path: Path) -> None:
    assert "names somebody twice" in refused(monkeypatch, capsys, tmp_path, "--as", "ann,bob,ann")


def test_an_extra_that_is_not_installed_is_named_with_its_pip_line(
    monkeypatch, capsys, tmp_path: Path
) -> None:
    monkeypatch.setattr(cli_desk, "find_spec", lambda name: None)
    said = refused(monkeypatch, capsys, tmp_path)
    assert "needs starlette and uvicorn: pip install 'torchgrade[desk]'" in said
