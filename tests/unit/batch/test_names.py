"""Each hand-in has a folder of its own, on file systems that ignore case too."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.batch.discover import apart, discover, shortened
from grader.batch.export import TABLES
from grader.submission.submission import folded


def names_in(folder: Path, *entries: str, listing: str = "") -> list[str]:
    for entry in entries:
        path = folder / entry
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")
    where = folder
    if listing:
        where = folder / "repos.txt"
        where.write_text(listing)
    return [submission.name for submission in discover(where, folder / "out").submissions]


def test_names_that_some_file_systems_take_for_one() -> None:
    pairs = [("Ann", "Ann.py"), ("ann", "ann.py"), ("ann", "ann.zip"), ("bob", "bob.py")]
    assert shortened(pairs) == ["Ann.py", "ann.py_", "ann.zip", "bob"]
    assert list(apart(["Jose\u0301", "Jos\xe9", "JOS\xc9", "x"])) == [
        "Jose\u0301", "Jos\xe9_", "JOS\xc9__", "x",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        "journal.sqlite", "Journal.SQLite", "journal.sqlite-wal", "journal.sqlite-journal",
        "journal.previous.sqlite", "journal.previous.sqlite-shm", "gradebook.csv", "Index.HTML",
        "similarity", "SIMILARITY", ".grader-writable", ".", "..", "",
        *(f"{kind}.csv" for kind in TABLES), "Anything.CSV",
    ],
)  # fmt: skip
def test_nobody_is_called_as_what_lies_beside(name: str) -> None:
    (given,) = apart([name])
    assert folded(given) == f"{folded(name)}_"
    assert shortened([(name, f"{name}.py")]) == [f"{name}.py"]


def test_folders_of_a_class(tmp_path: Path) -> None:
    entries = ("Similarity/toy.py", "journal.previous.sqlite/toy.py", "Index.html.py", "a.py")
    assert names_in(tmp_path, *entries) == [
        "Index.html.py", "Similarity_", "a", "journal.previous.sqlite_",
    ]  # fmt: skip


def test_names_that_platforms_give(tmp_path: Path) -> None:
    found = names_in(tmp_path / "au", "Kim_12345678.zip", "kim_87654321.zip", "lee_11111111.zip")
    assert found == ["Kim", "kim_", "lee"]
    listing = ":submitters: []\n"
    folders = "".join(f"{name}:\n  {listing}" for name in ("Similarity", "submission_1"))
    metadata = tmp_path / "gradescope/submission_metadata.yml"
    metadata.parent.mkdir()
    metadata.write_text(folders)
    entries = ("Similarity/toy.py", "submission_1/toy.py")
    assert names_in(tmp_path / "gradescope", *entries) == ["Similarity_", "submission_1"]


def test_names_of_repositories(tmp_path: Path) -> None:
    entries = ("one/toy/toy.py", "two/Toy/toy.py", "gradebook.csv/toy.py")
    listing = "one/toy\ntwo/Toy\ngradebook.csv\n"
    assert names_in(tmp_path, *entries, listing=listing) == ["Toy", "gradebook.csv_", "toy_"]
