"""Which of the files handed in are taken, and what is said when they are not there."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from grader.errors import UsageError
from grader.report.messages.catalogue import ENGLISH
from grader.submission import Bounds, IntakeError, Submission, read_again, read_submission
from grader.verdict import Code

ONE = ["pytorch101.py"]
TWO = ["pytorch101.py", "knn.py"]
SOURCE = b"def f(x):\n    return x\n"
BOUNDS = Bounds(entries=50, depth=6)


def notebook(*cells: str) -> bytes:
    made = [{"cell_type": "code", "metadata": {}, "source": cell, "outputs": []} for cell in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": made}).encode()


def read(path: Path, hand_in: list[str] = ONE) -> Submission:
    return read_submission(path, hand_in, bounds=BOUNDS)


def refused(path: Path, hand_in: list[str] = ONE) -> IntakeError:
    with pytest.raises(IntakeError) as caught:
        read(path, hand_in)
    return caught.value


def test_every_container_gives_the_same_submission(make):
    result = read(make({"pytorch101.py": SOURCE, "knn.py": b"x = 1\r\n"}), TWO)
    assert [(file.path, file.data) for file in result.files] == [
        ("pytorch101.py", SOURCE),
        ("knn.py", b"x = 1\r\n"),
    ]
    assert result.notes == ()
    assert result.files[0].sha256 == hashlib.sha256(SOURCE).hexdigest()
    digest = "".join(f"{f.path}\0{hashlib.sha256(f.data).hexdigest()}\n" for f in result.files)
    assert result.digest == hashlib.sha256(digest.encode()).hexdigest()


def test_only_wanted_files_are_taken(make):
    extra = ["torch.py", "conftest.py", "sitecustomize.py", "evil.pth", "random.py", "lib.so"]
    result = read(make({**dict.fromkeys(extra, b"raise SystemExit"), "pytorch101.py": SOURCE}))
    assert [file.path for file in result.files] == ["pytorch101.py"]


@pytest.mark.parametrize("inside", ["hw1", "a/b/c", "A1 (2)", "hé"])
def test_found_in_a_nested_folder(make, inside):
    result = read(make({f"{inside}/pytorch101.py": SOURCE, f"{inside}/data/x.txt": b"x"}))
    assert result.files[0].data == SOURCE
    assert result.files[0].origin.endswith(f"{inside}/pytorch101.py")


def test_a_folder_with_an_archive_and_nothing_else_is_that_archive(make_archive, tmp_path):
    archive = make_archive({"hw/pytorch101.py": SOURCE, "hw/notes.txt": b"x"})
    (tmp_path / "hers").mkdir()
    archive.rename(tmp_path / "hers" / archive.name)
    (tmp_path / "hers/.DS_Store").write_bytes(b"x")
    result = read(tmp_path / "hers")
    assert result.files[0].data == SOURCE
    assert result.files[0].origin == "hers/hw/pytorch101.py"


def test_a_link_to_an_archive_is_not_followed(make_archive, tmp_path):
    archive = make_archive({"pytorch101.py": SOURCE})
    (tmp_path / "hers").mkdir()
    (tmp_path / "hers" / archive.name).symlink_to(archive)
    assert refused(tmp_path / "hers").message.id == "is_link"


@pytest.mark.parametrize("beside", ["notes.txt", "b/other.tar"])
def test_an_archive_that_is_not_opened_is_named(make, beside):
    path = make({"pytorch101.zip": b"PK\3\4", beside: b""})
    with pytest.raises(IntakeError) as caught:
        read_submission(path, ONE, asked={"pytorch101.py": {"mm_on_gpu"}})
    # Not “a submission for something else”: nobody looked into it.
    assert caught.value.message.id == "archive_inside"
    assert "pytorch101.zip" in ENGLISH.render(caught.value.message)


def test_found_in_the_only_folder_that_has_it(make):
    assert read(make({"README": b"x", "src/pytorch101.py": SOURCE})).files[0].data == SOURCE


def test_root_wins_over_a_copy_below(make):
    result = read(make({"old/pytorch101.py": b"old = 1", "pytorch101.py": SOURCE}))
    assert result.files[0].data == SOURCE


def test_single_top_folder_counts_as_root(make):
    result = read(make({"hw/old/pytorch101.py": b"old = 1", "hw/pytorch101.py": SOURCE}))
    assert result.files[0].data == SOURCE


def test_two_folders_with_it_are_ambiguous(make):
    error = refused(make({"a/pytorch101.py": SOURCE, "b/pytorch101.py": SOURCE}))
    assert (error.code, error.message.id) == (Code.BAD_SUBMISSION, "ambiguous")
    assert sorted(error.message.params["candidates"]) == ["a/pytorch101.py", "b/pytorch101.py"]


def test_wanted_file_in_a_folder_of_its_own(make):
    assert read(make({"pkg/a.py": SOURCE}), ["pkg/a.py"]).files[0].path == "pkg/a.py"


def test_all_wanted_files_come_from_one_folder(make):
    error = refused(make({"pytorch101.py": SOURCE, "old/knn.py": SOURCE}), TWO)
    assert (error.code, error.message.id) == (Code.MISSING_FILE, "files_scattered")
    assert error.message.params["missing"] == TWO


@pytest.mark.parametrize(
    "found",
    [
        "pytorch101 (1).py",
        "Pytorch101.py",
        "pytorch_101.py",
        "pytorch101.py.txt",
        "pytorch101-copy.py",
    ],
)
def test_renamed_file_is_named(make, found):
    error = refused(make({found: SOURCE, "notes.md": b"x"}))
    assert (error.code, error.message.id) == (Code.MISSING_FILE, "missing_file_nearest")
    assert error.message.params["missing"] == ["pytorch101.py"]
    assert error.message.params["nearest"] == [found]
    assert found in error.message.params["found"]


def test_a_notebook_of_another_name_is_told_the_name_of_a_notebook(make):
    """Named as the missing file is, with its ending, it would be refused once more."""
    error = refused(make({"homework.ipynb": notebook("a = 1"), "data.txt": b"x"}))
    assert (error.code, error.message.id) == (Code.MISSING_FILE, "missing_file_notebook")
    assert error.message.params["notebook"] == "pytorch101.ipynb"


def test_missing_file_lists_what_is_there(make):
    error = refused(make({f"zz{i:02}.dat": b"x" for i in range(30)}))
    assert (error.code, error.message.id) == (Code.MISSING_FILE, "missing_file")
    assert error.message.params["found_count"] == 30
    assert error.message.params["found"][0] == "zz00.dat"
    assert error.message.params["found"][-1] == "…"
    assert len(error.message.params["found"]) == 13


ASKED = {ONE[0]: {"f", "g"}}


def test_a_hand_in_for_something_else_is_known_by_what_it_defines(make):
    other = b"class Stack:\n    def push(self):\n        fast = 1\n"
    with pytest.raises(IntakeError) as caught:
        read_submission(make({"pytorch_101.py": other, "q.c": b"int f;"}), ONE, asked=ASKED)
    told = caught.value.message
    assert (caught.value.code, told.id) == (Code.MISSING_FILE, "another_assignment")
    assert told.params["names"] == ["Stack", "push"]
    assert told.params["found"] == ["pytorch_101.py", "q.c"]
    assert ENGLISH.render(told) == (
        "Missing: pytorch101.py. Found in the submission: pytorch_101.py, q.c (2 in all). Defined "
        "there: Stack, push; nothing of what is asked for here. This seems to be a submission for "
        "something else; hand in the files of this assignment."
    )


@pytest.mark.parametrize(
    "content",
    [SOURCE, b"g = lambda x: x\n", notebook("def  g(x): pass"), SOURCE.decode().encode("utf-16")],
)
def test_one_function_that_is_asked_for_is_enough(make, content):
    with pytest.raises(IntakeError) as caught:
        read_submission(make({"pytorch 101.py.txt": content}), ONE, asked=ASKED)
    assert caught.value.message.id == "missing_file_nearest"


def test_a_single_file_for_something_else_is_noted(tmp_path):
    path = tmp_path / "stack.py"
    path.write_bytes(b"def push(): pass\n")
    notes = read_submission(path, ONE, asked=ASKED).notes
    assert [note.id for note in notes] == ["taken_as_another"]
    path.write_bytes(SOURCE)
    assert [note.id for note in read_submission(path, ONE, asked=ASKED).notes] == ["taken_as"]


def test_every_missing_file_is_named(make):
    error = refused(make({"qqqqqq.txt": SOURCE}), TWO)
    assert error.message.params["missing"] == TWO


def test_names_in_messages_are_escaped_and_bounded(tmp_path):
    folder = tmp_path / "bob"
    folder.mkdir()
    (folder / "a\x1b[31m\n\u202eb.txt").write_bytes(b"x")
    (folder / ("z" * 200)).write_bytes(b"x")
    found = refused(folder).message.params["found"]
    assert found[0] == "a\\x1b[31m\\n\\u202eb.txt"
    assert len(found[1]) == 80


def test_nothing_inside(make):
    error = refused(make({}))
    assert (error.code, error.message.id) == (Code.MISSING_FILE, "nothing_found")


def test_leftovers_of_tools_are_ignored(make):
    junk = ["__MACOSX/._pytorch101.py", "._pytorch101.py", ".DS_Store", ".git/pytorch101.py"]
    junk += ["__pycache__/pytorch101.cpython-311.pyc", ".ipynb_checkpoints/pytorch101.py"]
    result = read(make({**dict.fromkeys(junk, b"\0"), "hw/pytorch101.py": SOURCE}))
    assert result.files[0].data == SOURCE
    assert result.files[0].origin.endswith("hw/pytorch101.py")


def test_single_source_is_taken_whatever_its_name(tmp_path):
    path = tmp_path / "solution (3).py"
    path.write_bytes(SOURCE)
    result = read(path)
    assert result.files[0].path == "pytorch101.py"
    assert [(n.id, dict(n.params)) for n in result.notes] == [
        ("taken_as", {"found": "solution (3).py", "wanted": "pytorch101.py"})
    ]


def test_single_source_of_the_right_name_needs_no_note(tmp_path):
    path = tmp_path / "pytorch101.py"
    path.write_bytes(SOURCE)
    assert read(path).notes == ()
    assert read(path).files[0].origin == "pytorch101.py"


def test_single_source_is_not_enough_for_two(tmp_path):
    path = tmp_path / "pytorch101.py"
    path.write_bytes(SOURCE)
    error = refused(path, TWO)
    assert error.code is Code.MISSING_FILE
    assert error.message.params["missing"] == ["knn.py"]


def test_notebook_stands_in_for_a_missing_source(make):
    result = read(make({"hw/pytorch101.ipynb": notebook("a = 1")}))
    assert b"a = 1" in result.files[0].data
    assert result.files[0].path == "pytorch101.py"
    assert [note.id for note in result.notes] == ["converted_notebook"]


def test_source_wins_over_the_notebook_beside_it(make):
    result = read(make({"pytorch101.ipynb": b"{broken", "pytorch101.py": SOURCE}))
    assert result.files[0].data == SOURCE
    assert result.notes == ()


def test_notebook_above_and_source_below_is_for_a_person_to_decide(make):
    error = refused(make({"pytorch101.ipynb": notebook("a = 1"), "src/pytorch101.py": SOURCE}))
    assert error.message.id == "ambiguous"
    assert set(error.message.params["candidates"]) == {"pytorch101.ipynb", "src/pytorch101.py"}


def test_single_notebook_is_taken_whatever_its_name(tmp_path):
    path = tmp_path / "Untitled3.IPYNB"
    path.write_bytes(notebook("a = 1"))
    result = read(path)
    assert [note.id for note in result.notes] == ["taken_as", "converted_notebook"]
    assert result.files[0].cells is not None


def test_decomposed_unicode_name_is_found(make):
    result = read(make({"me\u0301.py": SOURCE}), ["m\u00e9.py"])
    assert result.files[0].path == "m\u00e9.py"


def test_archive_is_known_by_content_not_by_name(make_archive, tmp_path):
    path = make_archive({"pytorch101.py": SOURCE})
    path = path.rename(tmp_path / "{uniq}_{123}_A1.zip")
    result = read(path)
    assert result.files[0].data == SOURCE
    assert result.id == "uniq_123_A1"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("alice.py", "alice"),
        ("a b/../é.tar.gz", "é"),
        ("...zip", "submission"),
        ("x" * 200 + ".zip", "x" * 80),
    ],
)
def test_id_is_safe_for_a_folder(given, expected, tmp_path):
    path = tmp_path / Path(given).name
    path.write_bytes(b"PK\x05\x06" + bytes(18) if given.endswith("zip") else SOURCE)
    from grader.submission.reader import _id  # noqa: PLC0415

    assert _id(path.name) == expected


def test_name_is_used_as_given(make):
    path = make({"pytorch101.py": SOURCE})
    assert read_submission(path, ONE, name="bob").id == "bob"


@pytest.mark.parametrize("path", ["nothing", "no/thing", "a\0b"])
def test_path_that_does_not_exist_is_the_instructors_mistake(tmp_path, path):
    with pytest.raises(UsageError, match="cannot read this submission"):
        read(tmp_path / path)


def test_device_or_pipe_given_is_the_instructors_mistake(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(UsageError, match="device, pipe or socket"):
            read(path)


def test_what_was_graded_is_read_again_as_long_as_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "pytorch101.py").write_bytes(SOURCE)
    again = read_again(tmp_path, ONE)
    assert again is not None
    assert again.files[0].data == SOURCE
    assert read_again(tmp_path, TWO) is None
    assert read_again(tmp_path / "moved", ONE) is None
    assert read_again(tmp_path, []) is None
