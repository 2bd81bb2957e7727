"""Comments on lines: they stay whatever comes after, reach their readers, and change no points."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from former_journal import as_version_1

from grader.batch.comments import CommentRequest, comment_on
from grader.batch.export import feedback_of
from grader.batch.ledger import graded_so_far, read_grades
from grader.errors import UsageError
from grader.report.gradebook import GRADEBOOK_FILE
from grader.store.journal import JOURNAL_FILE, DamagedError, open_journal

BATCH = ("batch", "tiny", "class", "--out", "out", "--seed", 7, "--clock", "off")
SAID = "Not in place: x < y & z."


def comment(where: str, text: str = SAID, *more: str) -> tuple[str, ...]:
    return ("comment", "out", "cem", where, text, "--who", "samuel", *more)


def written(course: Path, name: str = "cem") -> list[dict[str, Any]]:
    return json.loads((course / f"out/{name}/report.json").read_text())["comments"]


def test_a_comment_stays_whatever_comes_after(course: Path, command: Any, capsys: Any) -> None:
    assert command(*BATCH) == 0
    before = (course / "out" / GRADEBOOK_FILE).read_bytes()
    assert command(*comment("cem.py:2")) == 2
    assert "no file “cem.py”; graded was tiny.py" in capsys.readouterr().err
    assert command(*comment("tiny.py:2")) == 0
    assert "cem tiny.py:2: said on “return x.mul_(2)”" in capsys.readouterr().out
    copy = course / "copy"
    copy.mkdir()
    (copy / JOURNAL_FILE).write_bytes((course / "out" / JOURNAL_FILE).read_bytes())
    for again in (
        (*BATCH, "--resume"),
        ("rejudge", "out"),
        ("regrade", "out", "--students", "cem"),
        ("regrade", "out", "--questions", "double"),
        ("decide", "out", "cem", "double.inputs", "--points", 0, "--why", "As it was."),
        ("decide", "out", "cem", "double.inputs", "--undo"),
        ("merge", "out", "copy"),
    ):
        assert command(*again) == 0
        (said,) = written(course)
        assert (said["text"], said["who"], said["question"]) == (SAID, "samuel", "double"), again
        assert not said["earlier"]
        page = (course / "out/cem/student.html").read_text()
        assert "Not in place: x &lt; y &amp; z." in page
        assert "<code>    return x.mul_(2)</code>" in page
        assert "samuel" not in page
        assert "samuel, 20" in (course / "out/cem/report.html").read_text()
        assert (course / "out" / GRADEBOOK_FILE).read_bytes() == before, again
    assert written(course, "ann") == []


def test_a_comment_is_changed_and_deleted_on_a_terminal(course: Path, command: Any) -> None:
    assert command(*BATCH) == 0
    assert command(*comment("tiny.py:2")) == 0
    assert command(*comment("tiny.py:2", "In place.")) == 0
    assert [each["text"] for each in written(course)] == ["In place."]
    assert command("comment", "out", "cem", "tiny.py:2") == 2
    assert command("comment", "out", "cem", "tiny.py:3", "--delete") == 2
    assert command("comment", "out", "cem", "tiny.py", "No line.") == 2
    assert command("comment", "out", "cem", "tiny.py:2", "--delete") == 0
    assert written(course) == []
    assert "In place." not in (course / "out/cem/student.html").read_text()
    assert command("comment", "out", "cem", "tiny.py:2", "--delete") == 2


def test_a_comment_is_about_the_file_that_it_was_written_on(course: Path, command: Any) -> None:
    assert command(*BATCH) == 0
    assert command(*comment("tiny.py:2")) == 0
    file = course / "class/cem.py"
    file.write_text("# Twice.\n" + file.read_text())
    # Nobody knows any more which line that would be.
    assert command(*comment("tiny.py:3")) == 2
    assert command("regrade", "out", "--students", "cem") == 0
    (said,) = written(course)
    assert (said["earlier"], said["line"], said["excerpt"]) == (True, 2, "    return x.mul_(2)")
    page = (course / "out/cem/student.html").read_text()
    assert "tiny.py, line 2 (of an earlier version of the file)" in page
    assert command(*comment("tiny.py:3", "Still in place.")) == 0
    assert [each["earlier"] for each in written(course)] == [False, True]


def test_exports_tell_a_comment_where_they_tell_of_its_question(course: Path, command: Any) -> None:
    file = course / "class/cem.py"
    file.write_text("# Twice.\n" + file.read_text())
    assert command(*BATCH) == 0
    assert command(*comment("tiny.py:3")) == 0
    assert command(*comment("tiny.py:7", "Right.")) == 0
    assert command(*comment("tiny.py:1", "Say more.")) == 0
    results = json.loads((course / "out/cem/results.json").read_text())
    told = {test["name"].split(":")[0]: test["output"] for test in results["tests"]}
    assert told["double"].endswith(f"\ntiny.py, line 3: {SAID}\n    > return x.mul_(2)")
    assert told["negate"].endswith("\ntiny.py, line 7: Right.\n    > return -x")
    assert results["output"].endswith("\ntiny.py, line 1: Say more.\n    > # Twice.")
    assert "samuel" not in json.dumps(results)
    (grade,) = (each for each in read_grades(course / "out") if each.submission.name == "cem")
    assert feedback_of(grade).splitlines()[1:] == [
        "• tiny.py, line 1: Say more.",
        "• tiny.py, line 3: Not in place: x &lt; y &amp; z.",
        "• tiny.py, line 7: Right.",
    ]
    assert command("export", "classroom50", "out/cem") == 0
    (path,) = (course / "out/cem").rglob("result.json")
    outputs = [test["output"] for test in json.loads(path.read_text())["tests"]]
    assert [text.count("tiny.py, line") for text in outputs] == [2, 0, 1]


def test_a_journal_of_an_earlier_version_takes_comments(course: Path, command: Any) -> None:
    assert command(*BATCH) == 0
    as_version_1(course / "out" / JOURNAL_FILE)
    assert command(*comment("tiny.py:2")) == 0
    assert [each["text"] for each in written(course)] == [SAID]


def test_a_copy_of_a_submission_has_no_comment_of_the_other_one(course: Path, command: Any) -> None:
    assert command(*BATCH) == 0
    assert command("comment", "out", "ann", "tiny.py:2", "Well done.") == 0
    (course / "class/fay.py").write_text((course / "class/ann.py").read_text())
    assert command(*BATCH, "--resume") == 0
    assert [len(written(course, name)) for name in ("ann", "dua", "fay")] == [1, 0, 0]


def test_a_comment_that_cannot_be_read_is_named(course: Path, command: Any) -> None:
    assert command(*BATCH) == 0
    with open_journal(course / "out" / JOURNAL_FILE) as journal:
        journal.say([("commented", "cem", "tiny.py:2:0", "{}")])
        with pytest.raises(DamagedError, match="a comment on cem cannot be read"):
            list(graded_so_far(journal))


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        (2, " ", "write a comment"),
        (2, "x" * 501, "at most 500 characters"),
        (0, "Zero.", "has lines 1 to 6, not 0"),
        (7, "Behind the end.", "has lines 1 to 6, not 7"),
    ],
)
def test_what_is_no_comment(course: Path, command: Any, line: int, text: str, said: str) -> None:
    assert command(*BATCH) == 0
    with open_journal(course / "out" / JOURNAL_FILE) as journal:
        (cem,) = graded_so_far(journal, ["cem"])
    with pytest.raises(UsageError, match=said):
        comment_on(cem, CommentRequest("tiny.py", line, text), "samuel")
    assert list(csv.DictReader((course / "out" / GRADEBOOK_FILE).open()))
