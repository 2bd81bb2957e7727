"""From what was typed to the files that are meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.assignment.find import Located, assignment_digest, find_assignment, locate
from grader.assignment.load import load_assignment
from grader.errors import UsageError

TEXT = """
schema: torchgrade/assignment/v1
id: knn
version: "1"
title: Neighbours
hand_in: [knn.py]
support: [data.txt]
questions:
  - id: f
    title: F
    points: 1
    cases: [{id: one}]
    checks: [{id: value, kind: exact, points: 1}]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("knn", "parallel"):
        folder = tmp_path / "assignments" / name
        folder.mkdir(parents=True)
        (folder / "assignment.yml").write_text(TEXT)
        (folder / "data.txt").write_text("1")
    (tmp_path / "reference" / "knn").mkdir(parents=True)
    (tmp_path / "work" / "deep").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def located(root: Path) -> Located:
    file = root / "assignments" / "knn" / "assignment.yml"
    return locate(file, load_assignment(file))


@pytest.mark.parametrize("start", [".", "work", "work/deep", "assignments/parallel"])
def test_an_id_is_looked_up_from_here_upward(root: Path, start: str) -> None:
    found = find_assignment("knn", root / start)
    assert found.resolve() == root / "assignments" / "knn" / "assignment.yml"


def test_a_path_to_the_file_or_its_folder(root: Path) -> None:
    wanted = root / "assignments" / "knn" / "assignment.yml"
    assert find_assignment("assignments/knn", root) == wanted
    assert find_assignment("knn/assignment.yml", root / "assignments") == wanted
    assert find_assignment(str(wanted), Path("/")) == wanted


def test_the_nearest_of_two_folders_wins(root: Path) -> None:
    inner = root / "work" / "assignments" / "knn"
    inner.mkdir(parents=True)
    (inner / "assignment.yml").write_text(TEXT)
    assert find_assignment("knn", root / "work" / "deep") == inner / "assignment.yml"


def test_a_students_folder_of_the_same_name_is_not_it(root: Path) -> None:
    (root / "work" / "knn").mkdir()
    found = find_assignment("knn", root / "work")
    assert found == root / "assignments" / "knn" / "assignment.yml"


def test_an_unknown_id_lists_the_known_and_the_nearest(root: Path) -> None:
    with pytest.raises(UsageError) as caught:
        find_assignment("paralel", root)
    assert str(caught.value) == (
        "no assignment “paralel”; known are knn, parallel; did you mean “parallel”?"
    )


def test_where_there_is_none_at_all(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no folder from here upward has assignments/<id>/"):
        find_assignment("knn", tmp_path)


@pytest.mark.parametrize("path", ["assignments/nothing", "other.yml", "./knn"])
def test_a_path_that_leads_nowhere(root: Path, path: str) -> None:
    with pytest.raises(UsageError, match=r"no assignment\.yml there"):
        find_assignment(path, root)


def test_places(root: Path, located: Located) -> None:
    assert located.root == root
    assert located.folder == root / "assignments" / "knn"
    assert located.hand_in[0] == root / "reference" / "knn" / "knn.py"
    assert located.reference == root / "reference" / "knn"
    assert located.starter == root / "starter" / "knn"
    assert located.scenario is None
    assert located.support == (located.folder / "data.txt",)


@pytest.mark.parametrize(
    "name",
    ["assignments/knn/assignment.yml", "assignments/knn/data.txt", "assignments/knn/scenario.py",
     "reference/knn/knn.py"],
)  # fmt: skip
def test_the_digest_changes_with_each_file(root: Path, name: str) -> None:
    def digest() -> str:
        file = root / "assignments" / "knn" / "assignment.yml"
        return assignment_digest(locate(file, load_assignment(file)))

    before = digest()
    assert digest() == before
    with (root / name).open("a") as file:
        file.write("# changed\n")
    assert digest() != before


def test_the_digest_tells_an_empty_file_from_none(root: Path, located: Located) -> None:
    before = assignment_digest(located)
    located.hand_in[0].write_text("")
    assert assignment_digest(located) != before
