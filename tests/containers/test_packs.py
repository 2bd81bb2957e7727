"""A pack does in a container what Gradescope does with it, from ``setup.sh`` to ``results.json``.

``setup.sh`` is what ``grader pack`` wrote, byte for byte. A container has no network, so pip finds
the wheels in a folder: ``PIP_NO_INDEX`` and ``PIP_FIND_LINKS`` are all that is different.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from containers.engine import CACHE, ROOT, Engine, Setting

FIRST = "pytorch101"
ASSIGNMENTS = (
    FIRST,
    *(
        pytest.param(name, marks=pytest.mark.release)
        for name in ("parallel", "tensors", "minibatch")
    ),
)
"""The one that most begin with, one that starts processes, and two with packages of their own."""
WHEELS = CACHE / "wheels"
METADATA = "submission_metadata.json"
CONTAINER = ("--cpus=2", "--memory=3g")
"""The smallest that is advised."""

_PIP = ("--env=PIP_NO_INDEX=1", "--env=PIP_FIND_LINKS=/wheels")
_EARNED = re.compile(r"On Gradescope students can earn (?:all )?([\d.]+)")
_WORTH = re.compile(r"an autograder worth ([\d.]+) points")
_CLOCK = {"inconclusive", "not_timed", "needs_review"}
"""Codes of what a busy machine leaves undecided; the reference leaves a person nothing else."""


@dataclass(frozen=True)
class Autograder:
    """``/autograder``, after its ``setup.sh``.

    Attributes:
        id: Of the assignment.
        home: The folder.
        printed: What ``grader pack`` said.
        engine: Runs it.
    """

    id: str
    home: Path
    printed: str
    engine: Engine

    def grade(self, *files: Path, metadata: str | None = None) -> tuple[dict[str, Any], str]:
        """Return ``results.json`` of a submission, and what only instructors see."""
        submission, results = self.home / "submission", self.home / "results"
        for folder in (submission, results):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        for file in files:
            shutil.copy(file, submission)
        worth = _number(_WORTH, self.printed)
        known = {"id": 1, "assignment": {"total_points": str(worth)}, "users": []}
        (self.home / METADATA).write_text(json.dumps(known) if metadata is None else metadata)
        done = _run(self.engine, "/autograder/source/run_autograder", self.home, seconds=590)
        assert done.returncode == 0, done.stdout + done.stderr
        document: dict[str, Any] = json.loads((results / "results.json").read_text())
        return document, done.stdout


def _run(
    engine: Engine, program: str, home: Path, seconds: float
) -> subprocess.CompletedProcess[str]:
    setting = Setting(
        (*CONTAINER, *_PIP, "--workdir=/autograder"),
        {home: "/autograder", WHEELS: "/wheels:ro"},
    )
    return engine.run([program], setting, seconds)


def _number(pattern: re.Pattern[str], text: str) -> float:
    found = pattern.search(text)
    assert found, text
    return float(found[1])


def _wheels(source: Path) -> None:
    """Fetch what ``setup.sh`` installs, where it is not there yet."""
    setup = (source / "setup.sh").read_text()
    torch = re.search(r"^torch=(\S+)$", setup, re.MULTILINE)
    index = re.search(r"^torch_index=(\S+)$", setup, re.MULTILINE)
    packages = re.search(r"\./torchgrade(.*)$", setup, re.MULTILINE)
    assert torch
    assert index
    assert packages
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(WHEELS)]
    command += ["--find-links", str(WHEELS)]
    name = f"torch=={torch[1]}"
    # Where pip knows a folder with the CPU build, it is quicker than the index.
    if subprocess.run([*command, "--no-deps", "--no-index", name], check=False).returncode:
        subprocess.run([*command, "--no-deps", "--index-url", index[1], name], check=True)
    project = (source / "torchgrade/pyproject.toml").read_text()
    program = re.findall(r'^  "(.+)",$', project, re.MULTILINE)
    constraints = ["--constraint", str(source / "constraints.txt")]
    needed = [*program, *packages[1].split(), "setuptools>=77"]
    subprocess.run([*command, *constraints, *needed], check=True)


Make = Callable[..., Autograder]


@pytest.fixture(scope="session")
def autograder(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Pack an assignment, lay it out as Gradescope does, and run ``setup.sh``; once each.

    Where a ``setup.sh`` has run before, byte for byte, what it installed is linked here.
    """
    installed: dict[bytes, Path] = {}

    @functools.cache
    def made(name: str, *options: str) -> Autograder:
        home = tmp_path_factory.mktemp("autograder")
        # Student processes are users of their own, there as here.
        home.chmod(0o755)
        command = [str(Path(sys.executable).with_name("grader")), "pack", "gradescope", name]
        packed = subprocess.run(
            [*command, "--out", str(home / "packed"), *options],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
        source = home / "source"
        with zipfile.ZipFile(home / "packed" / f"{name}-gradescope.zip") as archive:
            archive.extractall(source)
        for script in ("setup.sh", "run_autograder"):
            (source / script).chmod(0o755)
        setup = (source / "setup.sh").read_bytes()
        if setup in installed:
            there = installed[setup] / ".venv"
            shutil.copytree(there, source / ".venv", symlinks=True, copy_function=os.link)
        else:
            _wheels(source)
            done = _run(engine, "/autograder/source/setup.sh", home, seconds=420)
            assert done.returncode == 0, done.stdout + done.stderr
            installed[setup] = source
        return Autograder(name, home, packed.stdout, engine)

    return made


def _pending_by_clock(results: dict[str, Any]) -> float:
    """Return the points that a busy machine left undecided; they are nobody's loss."""
    tests = results["tests"]
    return sum(test["extra_data"]["pending"] for test in tests if _CLOCK & set(test["tags"]))


@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_the_reference_earns_what_was_printed_and_others_less(name: str, autograder: Make) -> None:
    made = autograder(name)
    reference = sorted((ROOT / "reference" / name).glob("*.py"))
    right, log = made.grade(*reference)
    assert sum(test["max_score"] for test in right["tests"]) == _number(_WORTH, made.printed)
    earned = right["score"] + _pending_by_clock(right)
    assert earned == pytest.approx(_number(_EARNED, made.printed)), log
    assert "Isolation: restricted" in log
    if name != FIRST:
        return  # up to a minute for each further submission, here

    empty, _ = made.grade()
    assert empty["score"] == 0
    assert sum(test["max_score"] for test in empty["tests"]) == _number(_WORTH, made.printed)
    spoilt = made.home / f"{name}.py"
    first = right["tests"][-1]["tags"][0]
    text = (ROOT / "reference" / name / f"{name}.py").read_text()
    spoilt.write_text(f"{text}\n\n{first} = lambda *args, **kwargs: 'wrong'\n")
    others = [path for path in reference if path.name != spoilt.name]
    wrong, _ = made.grade(spoilt, *others)
    assert 0 < wrong["score"] < right["score"]


def test_the_rest_is_worth_what_was_printed(autograder: Make) -> None:
    made = autograder("pytorch101", "--unreachable", "scale")
    worth = _number(_WORTH, made.printed)
    right, log = made.grade(*sorted((ROOT / "reference/pytorch101").glob("*.py")))
    assert sum(test["max_score"] for test in right["tests"]) == pytest.approx(worth)
    assert right["score"] + _pending_by_clock(right) == pytest.approx(worth), log


def test_a_broken_metadata_file_is_said_and_costs_nothing(autograder: Make) -> None:
    made = autograder("pytorch101")
    results, log = made.grade(metadata="{")
    assert "submission_metadata.json is not what Gradescope writes" in log
    assert results["score"] == 0
    other = json.dumps({"assignment": {"total_points": "100.0"}})
    results, log = made.grade(metadata=other)
    assert "worth 100 points on Gradescope" in log
    assert "submission_metadata" not in json.dumps(results)
