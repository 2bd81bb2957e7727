"""A file that a person reads, as its student meets it: starter, self-check, archive, lint."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from grader.assignment.find import find_assignment
from grader.authoring.lint import new_assignment
from grader.cli import app as cli

REPORT = """\
  - id: report
    title: What you measured
    points: 3
    file: report.pdf
    checks:
      - {id: style, kind: by_hand, points: 1}
      - {id: content, kind: by_hand, points: 2}
"""
RIGHT = "def double(x):\n    return x + x\n"


@pytest.fixture
def grader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Any:
    """Run a command in a course whose assignment asks for a report; return status and output."""
    # A slow machine prints how far it is.
    monkeypatch.setattr("grader.progress.EVERY", float("inf"))
    new_assignment("first", tmp_path)
    file = find_assignment("first", tmp_path)
    file.write_text(file.read_text() + REPORT)

    def run(*words: str, folder: str = ".") -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["grader", *words])
        monkeypatch.chdir(tmp_path / folder)
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), " ".join((printed.out + printed.err).split())

    return run


def test_a_report_is_asked_for_checked_packed_and_no_fault_to_lint(
    grader: Any, tmp_path: Path
) -> None:
    status, said = grader("starter", "first")
    assert status == 0, said
    starter = tmp_path / "starter/first"
    assert "`report.pdf`" in (starter / "README.md").read_text()
    assert grader("starter", "first", "--check") == (0, "starter/first is up to date")
    # Neither reference nor starter has one: that is the student's to write.
    assert grader("lint", "first") == (0, "first: no problems found")

    (starter / "first.py").write_text(RIGHT)
    status, said = grader("check", folder="starter/first")
    assert "report.pdf was not handed in" in said
    assert "To hand in: first.py, report.pdf;" in said
    (starter / "report.pdf").write_bytes(b"%PDF\0" * 300)
    status, said = grader("check", folder="starter/first")
    assert status == 0
    assert "report.pdf is there (1.5 kB); a person reads it" in said
    assert "was not handed in" not in said
    status, said = grader("submit-zip", folder="starter/first")
    assert (status, "report.pdf 1500 bytes" in said) == (0, True), said
    with zipfile.ZipFile(starter / "first.zip") as archive:
        assert sorted(archive.namelist()) == ["first.py", "report.pdf"]
        assert archive.read("report.pdf") == b"%PDF\0" * 300
