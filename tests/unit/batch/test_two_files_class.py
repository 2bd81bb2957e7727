"""A class whose submissions have two files, or one of them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
import toy_starter
import two_files
from in_process import Here
from two_files import LINEAR, NET, RIGHT

from grader.batch.class_run import ClassRun
from grader.batch.discover import discover
from grader.batch.ledger import BatchSettings, read_grades, write_grades
from grader.grading import Grader, Options
from grader.report.model import Report, read_report
from grader.run.plan import plan_digests
from grader.similarity.texts import Scripts, read_class


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class that was graded."""
    root = tmp_path_factory.mktemp("nets")
    materials = two_files.materials(root)
    class_folder = root / "class"
    for name, files in {
        "ann": RIGHT, "bob": {LINEAR: RIGHT[LINEAR]}, "cid": RIGHT,
        "dee": {**RIGHT, LINEAR: "def scores(W, X)\n"},
    }.items():  # fmt: skip
        (class_folder / name).mkdir(parents=True)
        for file, text in files.items():
            (class_folder / name / file).write_text(text)
    with zipfile.ZipFile(class_folder / "eve.zip", "w") as archive:
        for file, text in RIGHT.items():
            archive.writestr(f"work/{file}", text)
    (root / "out").mkdir()
    with toy_starter.lent() as sandbox:
        grader = Grader(materials, sandbox, Options(7, "virtual"))
        grader.prepare()
        _grade(root, grader)
    return root


def _grade(root: Path, grader: Grader) -> None:
    file = str(root / "assignments/nets/assignment.yml")
    setup = BatchSettings.model_validate({
        "assignment": "nets", "file": file, "version": "1", "digest": grader.materials.digest,
        "seed": 7, "device": "virtual", "questions": (), "isolation": "auto", "clock": False,
        "plan": plan_digests(grader.plan), "grader_version": "0",
    })  # fmt: skip
    out = root / "out"
    with ClassRun(out, False) as run:
        run.begin(setup, grader.answers)
        found = discover(root / "class", out).submissions
        list(run.grade(Here(grader, out, 99), found, lambda _: False))
    write_grades(read_grades(out, None), out)


def reports(course: Path) -> dict[str, Report]:
    out = course / "out"
    return {path.parent.name: read_report(path) for path in sorted(out.glob("*/report.json"))}


def test_everybody_is_graded_on_what_they_handed_in(course: Path) -> None:
    scores = {name: report.score for name, report in reports(course).items()}
    assert scores == {"ann": 10, "bob": 5, "cid": 10, "dee": 2, "eve": 10}


def test_copies_are_told_by_all_of_their_files(course: Path) -> None:
    digests = {name: report.submission.digest for name, report in reports(course).items()}
    assert digests["ann"] == digests["cid"] == digests["eve"]
    assert len(set(digests.values())) == 3


def test_similarity_compares_who_handed_in_one_of_them(course: Path) -> None:
    found = discover(course / "class", course / "out").submissions
    asked = {LINEAR: (), NET: ()}
    with Scripts() as scripts:
        read = read_class(found, [LINEAR, NET], scripts, asked)
        assert not read.unread
        assert set(read_class(found, [LINEAR, NET], scripts).unread) == {"bob"}
