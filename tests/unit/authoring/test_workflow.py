"""The packed workflow: sound as a document, and from push to merged score when it is run."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from actions_runner import Result, Runner

from grader.authoring.pack import workflow_files
from grader.authoring.platform_dry_run import required_by

NEEDS = required_by(())
WORKFLOW = ".github/workflows/grade.yml"
ASSIGNMENT = """\
schema: torchgrade/assignment/v1
id: tiny
version: "1"
title: Tiny
hand_in: [tiny.py]
questions:
  - id: double
    title: Twice
    points: 4
    cases:
      - id: some
        args: {x: {rand: [9], dtype: float32}}
    checks:
      - {id: values, kind: close, rtol: 1.0e-4, atol: 1.0e-4, points: 4}
  - id: mm_on_gpu
    title: A product on the GPU
    points: 6
    needs: {cuda: 1}
    cases:
      - id: large
        args: {x: {rand: [16, 32]}, w: {rand: [32, 24]}}
    checks:
      - {id: precise, kind: product, factors: [x, w], points: 4}
      - {id: speed, kind: speedup, cpu: mm_on_cpu, values: precise, case: large, points: 2}
"""
RIGHT = """\
def double(x):
    return x * 2


def mm_on_gpu(x, w):
    return (x.cuda() @ w.cuda()).cpu()


def mm_on_cpu(x, w):
    return x @ w
"""
CLASS = {
    "ann": RIGHT,
    "bob": RIGHT.replace("x * 2", "x * 3"),
    "cem": RIGHT.replace("x.cuda() @ w.cuda()", "x.cuda() @ w.cuda() + 1"),
}
VALUES = {
    "inputs.repositories": "",
    "secrets.HAND_INS": "a secret token",
    "github.token": "the job's own token",
}


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=Staff", "-c", "user.email=staff@example.edu"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Students' repositories; each has a link to a file of whatever machine it comes to.

    They also have a file with a name that no artifact takes.
    """
    home = tmp_path_factory.mktemp("server")
    for name, source in CLASS.items():
        folder = home / "course" / f"tiny-{name}"
        folder.mkdir(parents=True)
        (folder / "tiny.py").write_text(source)
        (folder / "link").symlink_to("/etc/hostname")
        (folder / "notes: what now?.md").write_text("Ask.\n")
        git(folder, "init", "--quiet")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message", "Hand in")
    return home


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packed repository, with the class that the instructor wrote into it."""
    home = tmp_path_factory.mktemp("course")
    for name, text in (
        ("assignments/tiny/assignment.yml", ASSIGNMENT), ("reference/tiny/tiny.py", RIGHT)
    ):  # fmt: skip
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text(text)
    grader = str(Path(sys.executable).with_name("grader"))
    words = ["pack", "classroom50", "tiny", "--out", "packed"]
    subprocess.run([grader, *words], cwd=home, check=True, capture_output=True)
    listing = home / "packed" / "class.txt"
    names = "".join(f"course/tiny-{name}\n" for name in (*CLASS, "gone"))
    listing.write_text(listing.read_text() + names)
    return home / "packed"


def test_the_document_is_what_github_takes(tmp_path: Path) -> None:
    path = tmp_path / "grade.yml"
    path.write_bytes(workflow_files("tiny", "auto", NEEDS)[WORKFLOW])
    command = [sys.executable, "-m", "check_jsonschema"]
    done = subprocess.run(
        [*command, "--builtin-schema", "vendor.github-workflows", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_can_change_behind_the_workflow_or_take_more_than_it_needs() -> None:
    files = workflow_files("tiny", "restricted", NEEDS)
    text = files[WORKFLOW].decode()
    assert "@ID@" not in text
    assert "--isolation restricted" in text
    document = yaml.safe_load(text)
    assert document["permissions"] == {"contents": "read"}
    assert document["defaults"]["run"]["shell"] == "bash"  # with pipefail
    for job in document["jobs"].values():
        # A job that reaches its own limit ends without an upload: the step's comes first.
        (grading,) = (step for step in job["steps"] if step.get("id") == "grade")
        assert 0 < grading["timeout-minutes"] <= job["timeout-minutes"] - 30
        assert job["timeout-minutes"] <= 360
        (upload,) = (step for step in job["steps"] if "upload-artifact" in step.get("uses", ""))
        assert upload["if"].startswith("${{ always()")
        assert set(job.get("permissions", {}).values()) <= {"read"}
        for step in job["steps"]:
            if "uses" in step:
                assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"]), step
            if step.get("uses", "").startswith("actions/checkout"):
                assert step["with"]["persist-credentials"] is False
    # Each pin names the version that it is.
    assert len(re.findall(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", text, re.MULTILINE)) == text.count(
        "uses:"
    )
    assert document["jobs"]["gpu"]["runs-on"] == ["self-hosted", "gpu"]
    assert "HAND_INS" not in json.dumps(document["jobs"]["gpu"])


@dataclass(frozen=True)
class Course:
    """What every run of the workflow begins with.

    Attributes:
        repository: The packed one.
        server: Of the students' repositories.
        jobs: Of the workflow.
    """

    repository: Path
    server: Path
    jobs: dict[str, Any]

    def runner(self, home: Path, artifacts: Path, double: bool = False) -> Runner:
        return Runner(home, self.repository, artifacts, self.server.as_uri(), double)


@pytest.fixture(scope="module")
def course(repository: Path, server: Path) -> Course:
    jobs = yaml.safe_load((repository / WORKFLOW).read_text())["jobs"]
    return Course(repository, server, jobs)


def rows(folder: Path) -> dict[str, tuple[str, str]]:
    with (folder / "graded" / "gradebook.csv").open() as file:
        return {row["submission"]: (row["score"], row["pending"]) for row in csv.DictReader(file)}


SLOW = "import time\ntime.sleep(6)\n" + RIGHT
"""Still at work when the others are graded."""


@pytest.fixture
def slow(tmp_path: Path, course: Course) -> tuple[Course, dict[str, str]]:
    """The course with a class of two, one of them slow."""
    server = tmp_path / "server"
    for name, source in (("ann", RIGHT), ("zoe", SLOW)):
        folder = server / "course" / f"tiny-{name}"
        folder.mkdir(parents=True)
        (folder / "tiny.py").write_text(source)
        git(folder, "init", "--quiet")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message", "Hand in")
    both = "course/tiny-ann course/tiny-zoe"
    return replace(course, server=server), VALUES | {"inputs.repositories": both}


@pytest.mark.heavy
def test_a_run_that_reached_its_limit_keeps_what_it_graded_and_the_next_goes_on(
    tmp_path: Path, slow: tuple[Course, dict[str, str]]
) -> None:
    course, values = slow
    first = course.runner(tmp_path / "first", tmp_path / "one")
    first.cut = ("graded/journal.sqlite-wal", b"tiny-ann")
    cut = first.run(course.jobs["cpu"], values)
    assert cut.failed == ["Grade"]
    assert "What was graded is kept" in cut.output
    assert "Run this workflow again: it goes on from here." in cut.summary
    kept = tmp_path / "one" / "graded-cpu"
    assert set(rows(kept)) == {"tiny-ann"}
    report = (kept / "graded" / "tiny-ann" / "report.json").read_bytes()

    second = course.runner(tmp_path / "second", tmp_path / "two")
    second.earlier = tmp_path / "one"
    done = second.run(course.jobs["cpu"], values)
    assert done.failed == [], done.output
    assert "This run goes on with what run 71 graded" in done.output
    assert (second.workspace / "graded/tiny-ann/report.json").read_bytes() == report
    full = tmp_path / "two" / "graded-cpu"
    assert set(rows(full)) == {"tiny-ann", "tiny-zoe"}
    assert not (full / "unfinished").exists()


@pytest.mark.heavy
def test_a_gpu_worker_that_reached_its_limit_is_gone_on_with(
    tmp_path: Path, course: Course, graded: Graded
) -> None:
    artifacts = tmp_path / "one"
    shutil.copytree(graded.artifacts, artifacts)
    worker = course.runner(tmp_path / "gpu", artifacts, double=True)
    worker.cut = ("on_gpu/journal.sqlite-wal", b"tiny-")
    cut = worker.run(course.jobs["gpu"], VALUES)
    # Of nobody's points any was completed, which merging says too; what there is comes up.
    assert cut.failed == ["Grade what waits for a GPU", "Merge the points"]
    assert "Run this workflow again: it goes on from here." in cut.summary
    assert (artifacts / "graded" / "unfinished").exists()

    (taken,) = (s for s in course.jobs["cpu"]["steps"] if s.get("name", "").startswith("Take over"))
    for commit in ("5eed", "0ther"):
        again = course.runner(tmp_path / commit, tmp_path / "two")
        again.earlier, again.commit = artifacts, commit
        result = again.run({"steps": [taken]}, VALUES)
        # Another commit may hold another assignment: all begins anew there.
        assert result.failed == []
        assert (again.workspace / "graded" / "gradebook.csv").exists() is (commit == "5eed")


@dataclass(frozen=True)
class Graded:
    """What the first job left: its machine, what became of it, its artifacts."""

    runner: Runner
    result: Result
    artifacts: Path


@pytest.fixture(scope="module")
def graded(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    home = tmp_path_factory.mktemp("cpu")
    runner = course.runner(home / "machine", home / "artifacts")
    return Graded(runner, runner.run(course.jobs["cpu"], VALUES), home / "artifacts")


def test_the_class_is_graded_without_a_gpu(graded: Graded) -> None:
    runner, cpu = graded.runner, graded.result
    assert cpu.failed == [], cpu.output
    assert "course/tiny-gone could not be fetched" in cpu.output
    assert rows(runner.workspace) == {
        "tiny-ann": ("8", "2"), "tiny-bob": ("4", "2"), "tiny-cem": ("4", "0")
    }  # fmt: skip
    pip = runner.pip.read_text()
    assert f"--no-deps --index-url https://download.pytorch.org/whl/cpu torch=={NEEDS.torch}" in pip
    assert "install --constraint constraints.txt ./torchgrade" in pip
    assert "| tiny\\-ann | 8 | 10 | 2 | pending |" in cpu.summary


def test_neither_token_nor_link_reaches_the_gpu_worker(graded: Graded) -> None:
    shared = [path for path in graded.artifacts.rglob("*") if path.is_file()]
    with tarfile.open(graded.artifacts / "graded-cpu" / "submissions.tar") as archive:
        packed = {Path(name).name for name in archive.getnames()}
    assert packed | {path.name for path in shared} >= {"submissions.txt", "tiny.py", "report.json"}
    assert not {"link", "config", ".git"} & (packed | {path.name for path in shared})
    for path in (*shared, *graded.runner.workspace.rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        assert b"a secret token" not in content, path
        assert b"the job's own token" not in content, path


def test_from_push_to_merged_score(tmp_path: Path, course: Course, graded: Graded) -> None:
    artifacts = tmp_path / "artifacts"
    shutil.copytree(graded.artifacts, artifacts)
    worker = course.runner(tmp_path / "gpu", artifacts, double=True)
    gpu = worker.run(course.jobs["gpu"], VALUES)
    assert gpu.failed == [], gpu.output
    assert "Completed: 4 points of 2 submissions." in gpu.output
    full = {"tiny-ann": ("10", "0"), "tiny-bob": ("6", "0"), "tiny-cem": ("4", "0")}
    assert rows(worker.workspace) == full
    assert "| tiny\\-ann | 10 | 10 | 0 | graded |" in gpu.summary
    report = json.loads((artifacts / "graded/graded/tiny-ann/report.json").read_text())
    assert report["merged"][0]["device"] == "cuda ×1"
    assert report["merged"][0]["isolation"] != "none"

    grader = Path(sys.executable).with_name("grader")
    exported = [str(grader), "export", "nbgrader", "graded", "--out", "grades.csv"]
    subprocess.run(exported, cwd=artifacts / "graded", check=True)
    with (artifacts / "graded" / "grades.csv").open() as file:
        scores = {row["student_id"]: row["score"] for row in csv.DictReader(file)}
    assert scores == {name: score for name, (score, _) in full.items()}


def test_a_gpu_worker_without_a_gpu_fails_the_job_and_shows_what_there_is(
    tmp_path: Path, course: Course, graded: Graded
) -> None:
    bare = course.runner(tmp_path, graded.artifacts).run(course.jobs["gpu"], VALUES)
    assert bare.failed == ["Grade what waits for a GPU"]
    assert "--device cuda, but this machine has no GPU" in bare.output
    assert "| tiny\\-ann | 8 | 10 | 2 | pending |" in bare.summary


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("--upload-pack=touch", "is no owner/name of a repository"),
        ("course/tiny-ann;id", "is no owner/name of a repository"),
        ("* /etc", "is no owner/name of a repository"),
        ("course/tiny-ann other/tiny-ann", "two repositories are called tiny-ann"),
    ],
)
def test_what_names_no_repository_is_refused(
    tmp_path: Path, course: Course, given: str, words: str
) -> None:
    steps = course.jobs["cpu"]["steps"]
    fetch = {"steps": [step for step in steps if step.get("name") == "Fetch the class"]}
    runner = course.runner(tmp_path / "cpu", tmp_path / "artifacts")
    refused = runner.run(fetch, {**VALUES, "inputs.repositories": given})
    assert refused.failed == ["Fetch the class"]
    assert words in refused.output
