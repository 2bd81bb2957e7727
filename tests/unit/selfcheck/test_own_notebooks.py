"""``grader check`` of a student's own notebook, as people write them in Jupyter."""

from __future__ import annotations

from pathlib import Path

import pytest
from toy_starter import notebook

from grader.cli import app as cli
from grader.selfcheck.workplace import open_workplace, read_workplace
from grader.selfcheck.written_stubs import takes_long_to_load

DOUBLE = "def double(x):\n    return x + x"


COLUMNS = "200"


def write(folder: Path, *cells: str) -> None:
    notebook(folder / "mine.ipynb", *cells)


def told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> str:
    monkeypatch.setattr("sys.argv", ["grader", "check", *arguments])
    with pytest.raises(SystemExit):
        cli.main()
    said = capsys.readouterr()
    return " ".join(f"{said.out} {said.err}".split())


@pytest.mark.parametrize(
    "cell",
    [
        "import asyncio\nawait asyncio.sleep(0.001)",
        "async def one():\n    return 1\nassert [await one() for _ in range(2)] == [1, 1]",
        "files = !ls\nfor name in files:\n    print(name)\nassert len(files) == 0",
        "files = %sx ls\nprint(*files)",
        "t = %timeit -o 1 + 1",
        "%matplotlib inline\n!pip install torch",
        "if __name__ == '__main__':\n    import time\n    time.sleep(1000)",
        "import toy\ntoy.double",
    ],
)
def test_what_jupyter_allows_costs_nothing(
    cell: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # A function above, which the cell may use, and one below, which it must not hide.
    write(folder, DOUBLE, cell, "def mean_of(x):\n    return x.mean()")
    said = told(monkeypatch, capsys, "mine.ipynb", "--all")
    assert "… double" in said
    assert "✓ mean_of" in said


@pytest.mark.parametrize(
    ("language", "wanted"),
    [
        ("en", "toy is the file itself, and nothing above that line is called “mean_of”. Write"),
        ("ko", "채점할 때 toy는 이 파일 자신이고, 그 줄 위에는 “mean_of”가 없습니다."),
    ],
)
def test_a_notebook_that_calls_the_starters_file_is_told_that_it_is_that_file(
    language: str,
    wanted: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # With nothing above it, and with something: two messages.
    for first in ("", DOUBLE):
        write(folder, "import toy", first, "toy.mean_of([1])", "def Counter(): pass")
        assert wanted in told(monkeypatch, capsys, "mine.ipynb", "--lang", language)


def test_the_starters_notebook_is_told_which_file_to_check(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = told(monkeypatch, capsys, "toy.ipynb")
    assert (
        "it tries those of toy.py, which is beside it. Check that file: “grader check toy.py”"
        in said
    )
    assert "not beside it" not in said
    assert "toy.py" in told(monkeypatch, capsys, "toy.ipynb", "--lang", "ko")


def places(folder: Path, *cells: str) -> list[int]:
    write(folder, *cells)
    submission = read_workplace(open_workplace(folder / "mine.ipynb"))
    cells_of = submission.files[0].cells
    assert cells_of is not None
    found = [cells_of.cell_of(line) for _, line in takes_long_to_load(submission)]
    return [place[0] for place in found if place]


def test_what_waits_or_loops_outside_functions_is_found_likeliest_first(folder: Path) -> None:
    assert places(
        folder,
        DOUBLE,
        "double(1)",
        "for epoch in range(3):\n    print(epoch)",
        "import time\nx = 1\nwith open('a') as f:\n    time.sleep(3)",
        "if __name__ == '__main__':\n    time.sleep(3)",
        "x = sum(i for i in range(3))",
    ) == [4, 3, 6, 2]
    assert places(folder, DOUBLE, "x = 1") == []


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("language", "wanted"),
    [
        ("en", "mine.ipynb, line 2 of code cell 2: 2 │ time.sleep(1000) Put what takes long"),
        ("ko", "mine.ipynb 2번째 코드 셀 2번째 줄: 2 │ time.sleep(1000) 오래 걸리는 것은"),
    ],
)
def test_a_cell_that_sleeps_is_named_by_cell_and_line(
    language: str,
    wanted: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(folder, DOUBLE, "import time\ntime.sleep(1000)")
    assert wanted in told(monkeypatch, capsys, "mine.ipynb", "--lang", language)
