"""The packed workflow: sound as a document, and from push to merged score when it is run."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from actions_runner import Result, Runner

from grader.authoring.pack import workflow_files
from grader.authoring.reach import required_by

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
VALUES = {"inputs.repositories": "", "secrets.HAND_INS": "a secret token"}


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
        assert 0 < job["timeout-minutes"] <= 360
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


def rows(folder: Path) -> dict[str, tuple[str, str]]:
    with (folder / "graded" / "gradebook.csv").open() as file:
        return {row["submission"]: (row["score"], row["pending"]) for row in csv.DictReader(file)}


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
        assert not (path.is_file() and b"a secret token" in path.read_bytes()), path


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
