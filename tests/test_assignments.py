"""Every assignment passes ``grader lint``; ``test_submissions`` compares the labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.cli import app as cli

ROOT = Path(__file__).parents[1]
ASSIGNMENTS = sorted(path.parent.name for path in ROOT.glob("assignments/*/assignment.yml"))

GRADED_ELSEWHERE = ("minibatch", "parallel")
"""Their labelled submissions take many minutes; ``test_submissions`` asks what lint would."""


@pytest.mark.heavy
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_lint_finds_no_problem(
    assignment: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["grader", "lint", assignment, "--no-labels"])
    monkeypatch.chdir(ROOT)
    if assignment in GRADED_ELSEWHERE:
        monkeypatch.setattr("grader.authoring.lint.try_labelled", lambda *_: ())
    with pytest.raises(SystemExit) as ended:
        cli.main()
    printed = capsys.readouterr()
    assert not ended.value.code, printed.err
    assert "no problems found" in printed.out
