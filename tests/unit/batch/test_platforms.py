"""What platforms give out is found to be whose, and from when."""

from __future__ import annotations

import datetime as dt
import subprocess
from pathlib import Path

import pytest

from grader.batch.discover import ClassSubmission, Found, Student, discover
from grader.errors import UsageError
from grader.submission import read_submission

UTC = dt.timezone.utc


def lay(folder: Path, *names: str, content: str = "x = 1\n") -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def find(folder: Path) -> Found:
    return discover(folder, folder / "out")


def by_name(found: Found) -> dict[str, ClassSubmission]:
    return {submission.name: submission for submission in found.submissions}


GRADESCOPE = """\
submission_101:
  :submitters:
  - :name: Mina Park
    :email: mina@example.edu
    :sid: '0042'
  - :name: Jo Doe
    :email: jo@example.edu
    :sid:
  :created_at: 2026-09-14 17:00:19.345678000 Z
  :score: 3.0
  :results:
    output: ':not a key'
  :history:
  - :id: 99
    :created_at: 2026-09-13 10:00:00 Z
    :score: 1.0
submission_102:
  :submitters:
  - :name: "=cmd()"
    :email: x@example.edu
    :sid: '7'
  :created_at: '2026-09-15 08:00:00 UTC'
submission_103:
  :submitters: []
"""


@pytest.mark.parametrize("deeper", ["", "assignment_9_export/"])
def test_gradescope(tmp_path: Path, deeper: str) -> None:
    lay(tmp_path, f"{deeper}submission_101/toy.py", f"{deeper}submission_102/toy.py")
    lay(tmp_path, f"{deeper}submission_999/toy.py")
    lay(tmp_path, f"{deeper}submission_metadata.yml", content=GRADESCOPE)
    found = find(tmp_path)
    assert found.platform == "gradescope"
    first, second = found.submissions
    assert (first.name, first.path) == ("submission_101", tmp_path / deeper / "submission_101")
    assert first.students == (
        Student("Mina Park", "mina@example.edu", "0042"),
        Student("Jo Doe", "jo@example.edu", ""),
    )
    assert first.created_at == dt.datetime(2026, 9, 14, 17, 0, 19, 345678, UTC)
    assert (first.attempts, second.attempts) == (2, None)
    assert second.created_at == dt.datetime(2026, 9, 15, 8, 0, tzinfo=UTC)
    assert found.left_out == ("submission_999", "submission_103 (listed, but not there)")


@pytest.mark.parametrize("content", ["- 1", "a: [", "!!python/object/apply:os.getpid []", ""])
def test_a_broken_list_of_gradescope(tmp_path: Path, content: str) -> None:
    lay(tmp_path, "submission_1/toy.py")
    lay(tmp_path, "submission_metadata.yml", content=content)
    with pytest.raises(UsageError, match=r"submission_metadata\.yml"):
        find(tmp_path)


def test_moodle_with_folders(tmp_path: Path) -> None:
    lay(tmp_path, "Ana María Díaz_81_assignsubmission_file_/toy.py")
    lay(tmp_path, "Bo_82_assignsubmission_file_/toy.ipynb")
    found = by_name(find(tmp_path))
    assert found["Ana_María_Díaz_81"].students == (Student("Ana María Díaz", id="81"),)
    assert found["Ana_María_Díaz_81"].path == tmp_path / "Ana María Díaz_81_assignsubmission_file_"
    assert len(found) == 2


def test_moodle_without_folders(tmp_path: Path) -> None:
    names = ("Bo_82_assignsubmission_file_toy.py", "Bo_82_assignsubmission_file_extra.py")
    lay(tmp_path, *names, "notes.txt")
    found = find(tmp_path)
    (submission,) = found.submissions
    assert found.left_out == ("notes.txt",)
    assert read_submission(submission.path, ["toy.py", "extra.py"]).files[1].path == "extra.py"


def test_nobody_hands_in_for_somebody_else_by_the_name_of_a_file(tmp_path: Path) -> None:
    own, behind = "Bo Lee_82_assignsubmission_file_toy.py", "Eve Roe_91_assignsubmission_file_"
    lay(tmp_path, own, f"{behind}{own}", f"{behind}toy.py")
    found = by_name(find(tmp_path))
    assert found["Bo_Lee_82"].path == {"toy.py": tmp_path / own}
    assert found["Eve_Roe_91"].path == {
        "toy.py": tmp_path / f"{behind}toy.py",
        own: tmp_path / f"{behind}{own}",
    }


def test_nobody_hands_in_for_somebody_else_by_a_name_of_their_own(tmp_path: Path) -> None:
    mark = "_assignsubmission_file_"
    lay(tmp_path / "folders", f"Bo Lee_82{mark}/toy.py", f"A_82{mark}x_91{mark}/toy.py")
    found = by_name(find(tmp_path / "folders"))
    assert {name: submission.students[0].id for name, submission in found.items()} == {
        "Bo_Lee_82": "82",
        f"A_82{mark}x_91": "91",
    }
    # Of files, which number is Moodle's can be told where somebody has no other.
    files = (
        f"Bo Lee_82{mark}toy.py",
        f"A_82{mark}x_91{mark}toy.py",
        f"Bo_Lee_82{mark}x_92{mark}b.py",
    )
    lay(tmp_path / "files", *files)
    found = by_name(find(tmp_path / "files"))
    assert {name: submission.students for name, submission in found.items()} == {
        "Bo_Lee_82": (Student("Bo Lee", id="82"),),
        "A_82": (Student("A"),),
        "Bo_Lee_82_": (Student("Bo_Lee"),),
    }


def test_canvas(tmp_path: Path) -> None:
    lay(tmp_path, "doejane_LATE_77_1001_toy.py", "doejane_77_1002_extra-2.py")
    lay(tmp_path, "rheelee_78_1003_toy-1.py")
    found = by_name(find(tmp_path))
    assert found["doejane_77"].late
    assert not found["rheelee_78"].late
    assert found["rheelee_78"].students == (Student("rheelee", id="78"),)
    assert len(read_submission(found["doejane_77"].path, ["toy.py", "extra.py"]).files) == 2
    submission = read_submission(found["rheelee_78"].path, ["toy.py"])
    assert submission.files[0].origin == "toy.py"


def test_autograder_io_with_stray_braces(tmp_path: Path) -> None:
    lay(tmp_path, "{jdoe}_{12345678}_A1.zip", "kim_87654321_A1.zip")
    found = by_name(find(tmp_path))
    assert set(found) == {"jdoe", "kim"}
    assert found["jdoe"].students == (Student("jdoe", id="12345678"),)


def test_one_stranger_makes_it_a_plain_folder(tmp_path: Path) -> None:
    lay(tmp_path, "doejane_77_1002_toy.py", "toy.py")
    assert find(tmp_path).platform == ""


def test_no_hand_in_is_called_as_another_one_or_as_a_file_of_the_class(tmp_path: Path) -> None:
    lay(tmp_path, "a.py", "a.zip", "a.py.zip", "b.py", "journal.sqlite.py", "index.html/toy.py")
    names = [submission.name for submission in find(tmp_path).submissions]
    assert names == ["a.py", "a.py.zip", "a.zip", "b", "index.html_", "journal.sqlite.py"]


def test_names_that_no_database_takes_and_names_without_end(tmp_path: Path) -> None:
    lay(tmp_path, "\udcff.py", "x" * 240 + ".py", "x" * 241 + ".py")
    (odd, *long) = sorted((submission.name for submission in find(tmp_path).submissions), key=len)
    assert odd == "\\udcff"
    assert len(set(long)) == 2
    assert {len(name) for name in long} == {213}


def test_two_of_one_name(tmp_path: Path) -> None:
    lay(tmp_path, "jdoe_12345678_A1.zip", "jdoe_87654321_A1.zip")
    with pytest.raises(UsageError, match="jdoe"):
        find(tmp_path)


def commit(folder: Path) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.edu"]
        subprocess.run(["git", *who, "-C", str(folder), *words], check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "done", "--date", "2026-10-01T10:00:00+09:00")


SIGNED = """\
tree {tree}
author a <a@example.edu> 1790000000 +0000
committer a <a@example.edu> 1790000000 +0000
gpgsig -----BEGIN PGP SIGNATURE-----
 -----END PGP SIGNATURE-----

done
"""


@pytest.mark.parametrize("way", ["signature", "fetch"])
def test_a_repository_names_no_program_to_be_run(tmp_path: Path, way: str) -> None:
    lay(tmp_path, "a/toy.py")
    folder = tmp_path / "a"
    commit(folder)

    def git(*words: str, told: str | None = None) -> str:
        line = ["git", "-C", str(folder), *words]
        done = subprocess.run(line, check=True, capture_output=True, text=True, input=told)
        return done.stdout.strip()

    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    if way == "signature":
        text = SIGNED.format(tree=git("write-tree"))
        git("update-ref", "HEAD", git("hash-object", "-t", "commit", "-w", "--stdin", told=text))
        lines = f"[log]\nshowSignature = true\n[gpg]\nprogram = {program}\n"
    else:
        (folder / ".git" / git("symbolic-ref", "HEAD")).write_text("1" * 40 + "\n")
        lines = f"""\
[core]
repositoryformatversion = 1
sshCommand = {program}
[extensions]
partialClone = origin
[remote "origin"]
url = ssh://nowhere/x
promisor = true
"""
    (folder / ".git/config").open("a").write(lines)
    (tmp_path / "repos.txt").write_text("a\n")
    (submission,) = discover(tmp_path / "repos.txt", tmp_path / "out").submissions
    assert bool(submission.created_at) is (way == "signature")
    assert not (tmp_path / "ran").exists()
    subprocess.run(["git", "-C", str(folder), "log", "-1"], check=False, capture_output=True)
    assert (tmp_path / "ran").exists(), "it would not have been run either way"


def test_repositories(tmp_path: Path) -> None:
    lay(tmp_path, "a/toy.py", "b/toy.py")
    commit(tmp_path / "a")
    (tmp_path / "a/.git/config").open("a").write(f"[core]\nfsmonitor = touch {tmp_path}/ran\n")
    listing = tmp_path / "repos.txt"
    listing.write_text("# section 1\n\na\n  b\n")
    found = discover(listing, tmp_path / "out")
    first, second = found.submissions
    assert (first.name, first.path) == ("a", tmp_path / "a")
    assert first.created_at
    assert second.created_at is None
    assert not (tmp_path / "ran").exists()
    commit(tmp_path)
    assert discover(listing, tmp_path / "out").submissions[1].created_at is None, (
        "not its own history"
    )
    listing.write_text("a\nnowhere\n")
    with pytest.raises(UsageError, match="nowhere"):
        discover(listing, tmp_path / "out")
