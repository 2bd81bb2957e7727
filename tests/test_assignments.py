"""Every assignment passes ``grader lint``; ``test_submissions`` compares the labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from labels import TAKES_LONG

from grader.authoring.lint import SEEDS
from grader.cli import app as cli
from grader.run.materials import Materials
from grader.run.mistakes import KnownMistakes

ROOT = Path(__file__).parents[1]
ASSIGNMENTS = sorted(path.parent.name for path in ROOT.glob("assignments/*/assignment.yml"))
COMPLETE = "attention"
"""Linted with every step, as authors do; it has the fewest labelled submissions."""


@pytest.mark.heavy
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_lint_finds_no_problem(
    assignment: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if assignment in TAKES_LONG:
        # Their known mistakes take minutes; see below.
        monkeypatch.setattr("grader.authoring.lint.KnownMistakes", _unknown)
        monkeypatch.setattr("grader.authoring.lint.unfit_mistakes", lambda *_: ())
    _lint(assignment, monkeypatch, capsys)


@pytest.mark.release
@pytest.mark.parametrize("assignment", TAKES_LONG)
def test_lint_finds_no_problem_of_known_mistakes(
    assignment: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _lint(assignment, monkeypatch, capsys)


def _unknown(materials: Materials) -> KnownMistakes:
    return KnownMistakes(replace(materials, mistakes=()))


def _lint(
    assignment: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["grader", "lint", assignment, "--no-labels"])
    monkeypatch.chdir(ROOT)
    if assignment != COMPLETE:
        # Grading them all takes many minutes, and “test_submissions” asks what lint would.
        monkeypatch.setattr("grader.authoring.lint.try_labelled", lambda *_: ())
        # The other tests run their references with other seeds.
        monkeypatch.setattr("grader.authoring.lint.SEEDS", SEEDS[:1])
    if assignment in TAKES_LONG:
        # To grade the other questions once with each known mistake takes as long.
        monkeypatch.setattr("grader.authoring.lint.costs_elsewhere", lambda *_: ())
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed = capsys.readouterr()
    assert not ended.value.code, printed.err
    assert "no problems found" in printed.out
