"""The table of versions: a row for each pair, and a pair that was run again has one row."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def versions(bench: Callable[[str], ModuleType]) -> ModuleType:
    return bench("versions")


def page(versions: ModuleType, *rows: str) -> str:
    return "\n".join(("Before.", versions.MARKS[0], *rows, versions.MARKS[1], "After."))


def test_a_pair_that_was_run_again_has_one_row_and_the_others_stay(versions: ModuleType) -> None:
    former = page(versions, "| Python | torch |", "|---|---|", "| 3.10.13 | 2.4.0 | CPU |",
                  "| 3.12.1 | 2.13.0 | old |")  # fmt: skip
    rows = [
        versions.Row(["3.12.4", "2.13.0", "CPU", "2.4"]),
        versions.Row(["3.9", "2.4.0", "", ""], {"installed": versions.NOT_TO_BE_HAD}),
    ]
    before, mark, head, _, *lines, end, after = versions.merged(former, rows).splitlines()
    assert (before, mark, end, after) == ("Before.", *versions.MARKS, "After.")
    assert head.split(" | ")[0] == "| Python"
    assert [line.split(" | ")[:3] for line in lines] == [
        ["| 3.9", "2.4.0", ""],
        ["| 3.10.13", "2.4.0", "CPU |"],
        ["| 3.12.4", "2.13.0", "CPU"],
    ]
    assert versions.NOT_TO_BE_HAD in lines[0]


def test_an_interpreter_that_is_not_here_is_named(
    versions: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "LOGS", tmp_path)
    row = versions.row_of("2.0:2.4.0", tmp_path / "none.whl", tmp_path)
    assert row.cells == {"installed": versions.NOT_TO_BE_HAD}
    assert row.reasons == ["python2.0 is not on this machine"]


def test_a_trial_that_fails_says_why_and_the_next_one_runs(
    versions: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = versions.Environment(Path(sys.prefix), tmp_path / "log")
    program = "print('see here'); raise ValueError('no such thing')"

    def broken(environment, scratch):
        return environment.run("python", "-c", program, where=scratch)

    trials = {"first": broken, "second": lambda environment, scratch: "ok"}
    monkeypatch.setattr(versions, "TRIALS", trials)
    row = versions.Row(["3.11", "2.13.0", "", ""])
    versions.try_all(row, here)
    assert row.cells == {"first": "fails", "second": "ok"}
    assert row.reasons == ["first: ValueError: no such thing"]
    assert "see here" in here.log.read_text()


def test_tests_that_fail_are_named(versions: ModuleType, tmp_path: Path) -> None:
    here = versions.Environment(Path(sys.prefix), tmp_path / "log")
    (tmp_path / "test_two.py").write_text("def test_a(): pass\n\ndef test_b(): assert False\n")
    with pytest.raises(versions.TrialError, match=r"^1 failed, 1 passed: test_two.py::test_b$"):
        here.pytest(where=tmp_path)
    (tmp_path / "test_two.py").write_text("def test_a(): pass\n")
    assert here.pytest(where=tmp_path) == "1 passed"
