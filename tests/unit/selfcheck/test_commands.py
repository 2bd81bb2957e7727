"""``grader check`` and ``grader submit-zip`` as a student meets them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
import toy_starter
from toy_starter import fill

from grader.cli import app as cli
from grader.errors import InfrastructureError
from grader.report.messages.language import VARIABLE
from grader.report.model import Report, ReportStatus
from grader.selfcheck.engine import SelfCheck
from grader.selfcheck.terminal import SaveWatch
from grader.submission import read_submission

Golden = Callable[[str, str], None]


COLUMNS = "80"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["grader", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code or 0


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    return "".join(f"{line.rstrip()}\n" for line in capsys.readouterr().out.splitlines())


def test_a_fresh_starter(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    golden: Golden,
) -> None:
    assert run(monkeypatch, "check") == 0
    golden("toy.check.fresh.txt", printed(capsys))


def test_something_right_and_something_wrong(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    golden: Golden,
) -> None:
    fill(folder, "double", "    return x * 3")
    fill(folder, "mean_of", "    return sum(item for item in x) / len(x)")
    assert run(monkeypatch, "check") == 0
    golden("toy.check.wrong.txt", printed(capsys))


def test_the_file_of_another_assignment(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "toy.py").write_text("def doubles(x):\n    return x\n")
    assert run(monkeypatch, "check") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "It has “doubles”: rename that" in said
    assert "Hint:" not in said
    assert "mean_of  0" not in said
    assert "toy.py has none of what is asked for here. Is it the file of another" in said
    assert "asks for double, mean_of, Counter." in said


def test_a_syntax_error_is_one_message_before_anything_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (folder / "toy.py").read_text()
    (folder / "toy.py").write_text(f"{text}\n\ndef late():\n    x = [1, 2\n    return x\n")
    monkeypatch.setattr(SelfCheck, "check", None)
    assert run(monkeypatch, "check") == 0
    said = printed(capsys).splitlines()
    line = len(text.splitlines()) + 4
    assert said[0].startswith(f"Syntax error in toy.py, line {line}, column 9: ")
    assert said[-2:] == ["        x = [1, 2", "            ^"]
    assert len(said) <= 4


def test_a_file_that_cannot_be_loaded_is_one_message(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "toy.py").write_text("assert 1 == 2, 'never'\n" + (folder / "toy.py").read_text())
    assert run(monkeypatch, "check") == 0
    said = printed(capsys)
    assert said.count("Importing the file stopped at line 1 with AssertionError: never") == 1
    assert "✗" not in said
    assert "    1 │ assert 1 == 2, 'never'" in said
    assert said.splitlines()[-1].startswith("Nothing could be checked.")


@pytest.mark.parametrize("body", ["x = 1", "print(1); time.sleep(1)"])
def test_a_loop_without_an_end_is_told_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], body: str
) -> None:
    (folder / "toy.py").write_text(f"while True:\n    {body}\n" + (folder / "toy.py").read_text())
    monkeypatch.setattr(SelfCheck, "check", None)
    assert run(monkeypatch, "check") == 0
    said = printed(capsys)
    assert said.startswith("toy.py, line 1: this loop never ends")
    assert len(said.splitlines()) <= 4


def test_a_loop_with_a_way_out_is_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (folder / "toy.py").read_text()
    (folder / "toy.py").write_text(f"while True:\n    break\n{text}")
    assert run(monkeypatch, "check", "--format", "lines") == 0
    assert "never ends" not in printed(capsys)


def test_a_package_that_is_not_installed_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "toy.py").write_text("import not_there\n" + (folder / "toy.py").read_text())
    fill(folder, "double", "    return x + x")
    assert run(monkeypatch, "check") == 0
    said = " ".join(printed(capsys).split())
    assert "Not installed here: not_there. What uses it fails." in said
    assert "Right as far as it is checked here: 1 (double)" in said


def test_what_is_not_installed_is_told_from_a_file_of_ones_own_and_from_a_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    head = "from not_there import f\nfrom mine import g\nfrom math import not_a_name\n"
    (folder / "toy.py").write_text(head + (folder / "toy.py").read_text())
    (folder / "mine.py").write_text("def g(): pass\n")
    fill(folder, "double", "    return x + x")
    assert run(monkeypatch, "check") == 0
    said = " ".join(printed(capsys).split())
    assert "Not installed here: not_there. What uses it fails. Install it" in said
    # Nothing is to be installed where the package is there.
    assert "not in the package that is installed: math.not_a_name. What uses it fails." in said
    assert "Not handed in: mine.py. What uses it fails, here as in grading." in said


def test_what_only_colab_has_does_not_stop_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    head = "import google.colab\nfrom google.colab import drive, files\n"
    calls = "drive.mount('/content/drive')\ngoogle.colab.files.download('toy.py')\n"
    (folder / "toy.py").write_text(head + calls + (folder / "toy.py").read_text())
    fill(folder, "double", "    return x + x")
    assert run(monkeypatch, "check", "double") == 0
    said = printed(capsys)
    assert "… double" in said
    assert "Not installed" not in said


def test_what_is_right_is_one_line_where_something_is_wrong(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(folder, "double", "    return x + x")
    fill(folder, "mean_of", "    return x.sum()")
    assert run(monkeypatch, "check") == 0
    said = printed(capsys)
    assert "✓" not in said
    assert "Right as far as it is checked here: 1 (double). With --all you see them too." in said
    assert "Next: mean_of in toy.py" in said
    assert run(monkeypatch, "check", "--all") == 0
    said = printed(capsys)
    assert "… double  3 + 1? / 4" in said
    assert "✗ Counter" in said


@pytest.mark.parametrize("word", ["mean_of", "Q2", "2", "me", "ME"])
def test_a_question_is_named_in_several_ways(
    word: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(folder, "mean_of", "    return x.mean()")
    assert run(monkeypatch, "check", word) == 0
    said = printed(capsys)
    assert "✓ mean_of  4 / 4" in said
    assert "double" not in said.split("━")[0]


def test_a_question_goes_before_a_folder_of_its_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "double").mkdir()
    assert run(monkeypatch, "check", "double") == 0
    said = printed(capsys)
    assert "double" in said
    assert "mean_of" not in said


def test_it_fails_on_demand(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(folder, "double", "    return x + x")
    assert run(monkeypatch, "check", "--fail") == 3
    assert run(monkeypatch, "check", "double", "--fail") == 0
    (folder / "toy.py").write_text("def (")
    assert run(monkeypatch, "check", "--fail") == 3


def test_a_fault_of_the_grader_is_told_from_a_wrong_answer(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(folder, "double", "    return x + 1")

    def failing(*_: object) -> NoReturn:
        raise InfrastructureError("no process could be started")

    with monkeypatch.context() as patched:
        patched.setattr(SelfCheck, "check", failing)
        assert run(patched, "check", "--fail") == 1
        assert "no process could be started" in capsys.readouterr().err
    checked = SelfCheck.check

    def incomplete(self: SelfCheck, *args: Any) -> Report:
        return checked(self, *args).model_copy(update={"status": ReportStatus.INCOMPLETE})

    monkeypatch.setattr(SelfCheck, "check", incomplete)
    assert run(monkeypatch, "check", "--fail") == 1


def test_findings_as_lines_and_as_json(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(folder, "double", "    return x[99]")
    number = next(n for n, line in enumerate((folder / "toy.py").read_text().splitlines(), 1)
                  if "x[99]" in line)  # fmt: skip
    assert run(monkeypatch, "check", "--format", "lines", "double") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"toy.py:{number}: double: values: Case example: IndexError")
    assert run(monkeypatch, "check", "--format", "json", "double") == 0
    report = Report.model_validate_json(capsys.readouterr().out)
    assert report.questions[0].checks[0].params["line"] == number
    (folder / "toy.py").write_text("x = 1\ndef (")
    assert run(monkeypatch, "check", "--format", "lines") == 0
    assert capsys.readouterr().out.startswith("toy.py:2: Syntax error")


def test_what_stands_below_a_statement_that_raised_is_said_to_be_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(folder, "double", "    return x + x")
    with (folder / "toy.py").open("a") as file:
        file.write("\n\nprint(double(input()))\n")
    assert run(monkeypatch, "check") == 0
    said = " ".join(printed(capsys).split())
    assert "and what stands below it was not loaded. toy.py, line " in said
    assert "EOFError: EOF when reading a line. Nobody types anything here: take input()" in said


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("assert double(1) == 3", "line {line}: AssertionError."),
        ("exit()", "line {line}: SystemExit."),
    ],
)
def test_a_statement_that_raises_without_a_word_is_named_all_the_same(
    last: str,
    said: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fill(folder, "double", "    return x + x")
    with (folder / "toy.py").open("a") as file:
        file.write(f"{last}\n")
    line = len((folder / "toy.py").read_text().splitlines())
    assert run(monkeypatch, "check") == 0
    assert f"not loaded. toy.py, {said.format(line=line)}" in " ".join(printed(capsys).split())
    assert run(monkeypatch, "check", "--format", "lines") == 0
    assert printed(capsys).startswith(f"toy.py:{line}: A statement outside your functions failed")


def test_where_loading_stopped_is_told_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (folder / "toy.py").read_text()
    above, mark, below = text.partition("def mean_of")
    assert mark
    (folder / "toy.py").write_text(f"{above}assert not 1\n\n\n{mark}{below}")
    assert run(monkeypatch, "check") == 0
    said = printed(capsys)
    line = len(above.splitlines()) + 1
    assert f"Importing the file stopped at line {line} with AssertionError." in said
    assert said.count("AssertionError") == 1
    assert "Mend what stops the file, save it, and check again." in said
    assert "Next:" not in said


def notebook(folder: Path, name: str, *cells: str) -> None:
    content = [{"cell_type": "code", "metadata": {}, "source": text} for text in cells]
    (folder / name).write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": content}))


RAISES = "def double(x):\n    return x.nothing"


def test_a_notebook_is_spoken_of_by_its_cells(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook(folder, "own.ipynb", "%pip install torch", "import torch", RAISES)
    assert run(monkeypatch, "check", "own.ipynb", "double") == 0
    said = printed(capsys)
    assert "AttributeError in own.ipynb, line 2 of code cell 3:" in " ".join(said.split())
    # Not the second line of the file of that name.
    assert "      2 │ return x.nothing\n" in said
    assert "Next: double in own.ipynb, line 1 of code cell 3." in said
    assert "own.ipynb was taken as toy.ipynb" in said
    monkeypatch.setenv(VARIABLE, "ko")
    assert run(monkeypatch, "check", "own.ipynb", "double") == 0
    assert "own.ipynb 3번째 코드 셀 2번째 줄" in " ".join(printed(capsys).split())


def test_lines_of_a_notebook_point_at_the_notebook(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook(folder, "own.ipynb", "import torch", RAISES)
    assert run(monkeypatch, "check", "own.ipynb", "double", "--format", "lines") == 0
    assert printed(capsys).startswith("own.ipynb:1: double: ")
    notebook(folder, "own.ipynb", "import torch", "x = (1,")
    assert run(monkeypatch, "check", "own.ipynb") == 0
    said = printed(capsys)
    assert said.startswith("Syntax error in own.ipynb, line 1 of code cell 2, column 5: ")
    assert said.splitlines()[-2:] == ["    x = (1,", "        ^"]


def test_a_file_of_another_name_is_quoted_not_the_one_that_is_called_as_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "mine.py").write_text(f"import torch\n\n\n{RAISES}\n")
    assert run(monkeypatch, "check", "mine.py", "double") == 0
    assert "      5 │ return x.nothing\n" in printed(capsys)


def test_of_a_part_it_says_no_more_than_was_looked_at(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(folder, "double", "    return x + x")
    assert run(monkeypatch, "check", "--questions", "double") == 0
    said = capsys.readouterr().out
    assert "  3 + 1? / 4\n" in said
    assert "Not written" not in said


def test_everything_right(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    golden: Golden,
) -> None:
    reference = toy_starter.made()[1].reference_folder / "toy.py"
    (folder / "toy.py").write_text(reference.read_text())
    assert run(monkeypatch, "check") == 0
    golden("toy.check.right.txt", printed(capsys))


def test_in_korean(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    golden: Golden,
) -> None:
    fill(folder, "double", "    return x * 3")
    fill(folder, "mean_of", "    return x.mean()")
    assert run(monkeypatch, "check", "--lang", "ko") == 0
    golden("toy.check.korean.txt", printed(capsys))
    assert run(monkeypatch, "check", "else/where", "--lang", "ko") == 2
    assert "과제 폴더를 지정하세요" in capsys.readouterr().err


def test_some_questions_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(folder, "double", "    return x * 2")
    assert run(monkeypatch, "check", "--questions", "double") == 0
    out = capsys.readouterr().out
    assert "… double  3 + 1? / 4" in out
    assert "mean_of" not in out.split("\n\n")[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "--questions", "duoble"], "Did you mean “double”?"),
        (["check", "duoble"], "Did you mean “double”?"),
        (["check", "else/where"], "else/where does not exist"),
        (["check", ".."], "Not this one"),
    ],
)
def test_wrong_usage_is_told_in_one_sentence(
    arguments: list[str],
    said: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if said == "Not this one":
        toy_starter.starter(folder.parent / "other")
        said = "holds several assignments"
    assert run(monkeypatch, *arguments) == 2
    error = capsys.readouterr().err
    assert said in " ".join(error.split())
    assert "Traceback" not in error


def test_the_archive_holds_what_grading_takes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "submit-zip") == 0
    assert "toy.zip is ready to hand in" in capsys.readouterr().out
    with zipfile.ZipFile(folder / "toy.zip") as archive:
        assert archive.namelist() == ["toy.py"]
    back = read_submission(folder / "toy.zip", ("toy.py",))
    assert back.files[0].data == (folder / "toy.py").read_bytes()
    first = (folder / "toy.zip").read_bytes()
    run(monkeypatch, "submit-zip")
    assert (folder / "toy.zip").read_bytes() == first


def test_packing_says_for_what_it_is_and_what_is_not_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(folder, "double", "    return x + x")
    assert run(monkeypatch, "submit-zip") == 0
    said = " ".join(printed(capsys).split())
    assert "toy.zip is ready to hand in: Toy, version 1." in said
    assert "Not written yet (2): mean_of, Counter." in said


def test_packing_says_what_is_not_in_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(folder, "double", "    return x + x")
    text = (folder / "toy.py").read_text()
    (folder / "toy.py").write_text(text.replace("def double", "def doubles"))
    assert run(monkeypatch, "submit-zip") == 0
    assert "Not in toy.py (1): double." in printed(capsys)
    (folder / "toy.py").write_text("def other(x):\n    return x\n")
    assert run(monkeypatch, "submit-zip") == 0
    assert "toy.py has none of what is asked for here." in printed(capsys)


def test_a_notebook_is_packed_under_the_name_that_grading_looks_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook(folder, "own.ipynb", "def double(x):\n    return x + x")
    assert run(monkeypatch, "submit-zip", "own.ipynb") == 0
    with zipfile.ZipFile(folder / "toy.zip") as archive:
        assert archive.namelist() == ["toy.ipynb"]


@pytest.mark.parametrize("top", ["x = (1,\n", "while True:\n    pass\n"])
def test_what_python_cannot_load_is_not_packed(
    top: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "toy.py").write_text(top + (folder / "toy.py").read_text())
    assert run(monkeypatch, "submit-zip") == 1
    said = printed(capsys)
    assert "line 1" in said
    assert said.splitlines()[-1] == "Nothing was packed. Mend this first."
    assert not (folder / "toy.zip").exists()


def test_what_cannot_be_graded_is_not_packed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "toy.py").write_bytes(b"")
    assert run(monkeypatch, "submit-zip") == 2
    assert "toy.py is empty" in capsys.readouterr().err
    assert not (folder / "toy.zip").exists()


@pytest.mark.parametrize(
    ("stops", "said"),
    [
        ("def broken(:\n", "toy.py, line {line}, column 12: invalid syntax."),
        ("while True:\n    pass\n", "toy.py, line {line}: this loop never ends"),
    ],
)
def test_watching_waits_while_the_file_cannot_be_loaded(
    stops: str,
    said: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = folder / "toy.py"
    whole = path.read_text()
    line = whole.count("\n") + 1

    def saves(_: SaveWatch) -> Iterator[None]:
        path.write_text(whole)
        fill(folder, "double", "    return 2 * x")
        right = path.read_text()
        for text in (right, right + stops, right):
            path.write_text(text)
            yield None
        raise KeyboardInterrupt

    path.write_text(whole + stops)
    monkeypatch.setattr(SaveWatch, "changes", saves)
    assert run(monkeypatch, "check", "--watch") == 130
    first, begun = capsys.readouterr().out.split("Watching toy.py")
    assert "0 /" not in first
    checked, stopped = begun.split("Checked again: double")
    assert "double  3 + 1? / 4" in checked
    assert "Checked again" not in stopped
    assert " / " not in stopped
    for text, number in ((first, line), (stopped, path.read_text().count("\n") + 1)):
        assert said.format(line=number) in text
        assert "The next save is looked at again." in " ".join(text.split())
    assert "nothing that is checked has changed" in stopped


def test_watching_says_what_was_checked_again_and_what_is_in_the_way(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def saves(_: SaveWatch) -> Iterator[None]:
        fill(folder, "double", "    return 2 * x")
        yield None
        text = (folder / "toy.py").read_text()
        (folder / "toy.py").write_text(f"{text}# a remark\n")
        yield None
        (folder / "toy.py").write_text(f"{text}assert not 1\n")
        yield None
        (folder / "toy.py").unlink()
        yield None
        raise KeyboardInterrupt

    monkeypatch.setattr(SaveWatch, "changes", saves)
    assert run(monkeypatch, "check", "--watch") == 130
    out = capsys.readouterr().out
    assert "Watching toy.py" in out
    assert "Checked again: double" in out
    assert "… double  3 + 1? / 4" in out
    assert "nothing that is checked has changed" in out
    assert "A statement outside your functions failed" in out.split("has changed.")[1]
    assert "toy.py is not in" in " ".join(out.split("AssertionError.")[1].split())
