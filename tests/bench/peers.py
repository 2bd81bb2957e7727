"""Seconds a submission: this grader against otter, nbgrader and gradescope-utils, in one run.

All grade the same hand-ins of three functions on the same inputs, one at a time, one torch thread
each; otter and nbgrader get the same source as a notebook of one cell. A round grades the class
with each tool by the command that a course would use: ``otter run`` and one gradescope-utils
process for each hand-in, one ``nbgrader autograde`` and one ``grader batch -j 1`` for the class.
Ours makes all its checks, those included that the others cannot make. The others' seconds do not
depend on how large a class is, so they grade its first hand-ins only; ours grades all of them.

How many hand-ins each finds wholly right is printed beside, so that a tool that fails is not taken
for one that is fast. otter and nbgrader are not among this project's packages; they need an
environment of their own in which torch can be imported:

    python -m venv PEERS && PEERS/bin/pip install otter-grader nbgrader torch
    python tests/bench/peers.py --peers PEERS [--size 100] [--sample 6] [--rounds 3]
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
import peer_cases
import throughput
from nbformat.v4 import new_code_cell, new_notebook

from grader.one_thread import ONE_THREAD
from grader.run.grade import Grader, Options
from grader.run.materials import load_materials
from grader.sandbox.open import open_sandbox

ROOT = Path(__file__).parents[2]
QUESTIONS = throughput.QUESTIONS
POINTS = 5


class Course:
    """The same class, laid out for each tool.

    Args:
        folder: Empty; all is written there.
        peers: ``bin`` of the environment of otter and nbgrader.
        size: Hand-ins.
        sample: Hand-ins that others grade.
    """

    def __init__(self, folder: Path, peers: Path, size: int, sample: int) -> None:
        self.folder, self.peers, self.sample = folder, peers, sample
        self.hand_ins = folder / "class"
        self.hand_ins.mkdir()
        throughput.make_class(self.hand_ins, size)
        self.cases = folder / "cases.json"
        materials = load_materials(ROOT / "assignments/pytorch101/assignment.yml")
        with open_sandbox("auto") as sandbox:
            grader = Grader(materials, sandbox, Options(1, "cpu", QUESTIONS))
            grader.prepare()
        self.count = throughput.write_cases(grader, self.cases)
        self._for_otter()
        self._for_nbgrader()

    def first(self) -> list[Path]:
        """Return the hand-ins that others grade."""
        return sorted(self.hand_ins.iterdir())[: self.sample]

    def tool(self, name: str, *arguments: str, where: Path) -> str:
        """Run a command of the peers, and return what it printed."""
        told = subprocess.run(
            [str(self.peers / name), *arguments],
            cwd=where,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=1800,
        )
        if told.returncode:
            print(told.stdout[-1500:], told.stderr[-1500:])
        return told.stdout + told.stderr

    def environment(self) -> dict[str, str]:
        """Return the same environment for all: one thread a library, and where the inputs are."""
        path = f"{self.peers}:{os.environ.get('PATH', '')}"
        inputs = {
            peer_cases.REFERENCE: str(throughput.REFERENCE),
            peer_cases.CASES: str(self.cases),
        }
        home = {"HOME": str(self.folder), "PYTHONPATH": str(Path(__file__).parent)}
        return {"PATH": path, **ONE_THREAD, **home, **inputs}

    def _for_otter(self) -> None:
        course = self.folder / "otter"
        (course / "tests").mkdir(parents=True)
        for name in QUESTIONS:
            code = f">>> from peer_cases import agrees\n>>> agrees({name})\nTrue"
            case = {"code": code, "hidden": False, "locked": False}
            suite = {"cases": [case], "scored": True, "type": "doctest"}
            test = {"name": name, "points": POINTS, "suites": [suite]}
            (course / f"tests/{name}.py").write_text(f"OK_FORMAT = True\ntest = {test!r}\n")
        self.tool("otter", "generate", "-t", "tests", "--no-environment", where=course)
        for path in self.first():
            cell = new_code_cell((path / "pytorch101.py").read_text(errors="replace"))
            nbformat.write(new_notebook(cells=[cell]), course / f"{path.name}.ipynb")

    def _for_nbgrader(self) -> None:
        course = self.folder / "nbgrader"
        (course / "source/ps1").mkdir(parents=True)
        (course / "nbgrader_config.py").write_text(
            "c = get_config()\nc.CourseDirectory.course_id = 'course'\n"
            "c.ExecutePreprocessor.timeout = 120\nc.NbGraderConfig.logfile = ''\n"
        )
        nbformat.write(_nbgrader_notebook("# YOUR CODE HERE"), course / "source/ps1/ps1.ipynb")
        self.tool("nbgrader", "generate_assignment", "ps1", where=course)
        for path in self.first():
            target = course / "submitted" / path.name / "ps1"
            target.mkdir(parents=True)
            source = (path / "pytorch101.py").read_text(errors="replace")
            nbformat.write(_nbgrader_notebook(source), target / "ps1.ipynb")


def _nbgrader_notebook(source: str) -> nbformat.NotebookNode:
    def cell(text: str, name: str, grade: bool) -> nbformat.NotebookNode:
        about = {
            "grade": grade, "grade_id": name, "locked": grade, "schema_version": 3,
            "solution": not grade, "task": False, **({"points": POINTS} if grade else {}),
        }  # fmt: skip
        return new_code_cell(text, metadata={"nbgrader": about})

    tests = [
        cell(f"from peer_cases import agrees\nassert agrees({name})", name, grade=True)
        for name in QUESTIONS
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [cell(source, "answer", grade=False), *tests]
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def otter(course: Course, out: Path) -> list[bool]:
    """Grade with otter; return which have all points."""
    right = []
    for path in sorted((course.folder / "otter").glob("student*.ipynb")):
        results = out / path.stem
        results.mkdir()
        course.tool(
            "otter", "run", "-a", "autograder.zip", "-o", str(results), "--no-logo", path.name,
            where=path.parent,
        )  # fmt: skip
        tests = json.loads((results / "results.json").read_text())["tests"]
        right.append(sum(test.get("score", 0) for test in tests) >= POINTS * len(QUESTIONS))
    return right


def nbgrader(course: Course, out: Path) -> list[bool]:
    """Grade with nbgrader; return which have all points."""
    folder, grades = course.folder / "nbgrader", out / "grades.csv"
    course.tool("nbgrader", "autograde", "ps1", "--force", where=folder)
    course.tool("nbgrader", "export", "--to", str(grades), where=folder)
    rows = csv.DictReader(grades.read_text().splitlines())
    return [float(row["score"] or 0) >= POINTS * len(QUESTIONS) for row in rows]


def gradescope_utils(course: Course, out: Path) -> list[bool]:
    """Grade with one gradescope-utils process each; return which have all points."""
    right = []
    for path in course.first():
        results = out / f"{path.name}.json"
        subprocess.run(
            [sys.executable, str(throughput.BASELINE), str(path / "pytorch101.py"),
             str(throughput.REFERENCE), str(course.cases), str(results)],
            env=course.environment(), capture_output=True, check=False, timeout=300,
        )  # fmt: skip
        # A hand-in that cannot be imported leaves an empty file here.
        text = results.read_text()
        right.append(bool(text) and float(json.loads(text)["score"]) >= course.count)
    return right


def ours(course: Course, out: Path) -> list[bool]:
    """Grade the whole class with this grader, one at a time; return which have all points."""
    assignment = ROOT / "assignments/pytorch101/assignment.yml"
    subprocess.run(
        [str(Path(sys.executable).with_name("grader")), "batch", str(assignment),
         str(course.hand_ins), "--out", str(out), "-j", "1", "--device", "cpu", "--clock", "off",
         "--questions", ",".join(QUESTIONS)],
        capture_output=True, check=False, timeout=1800,
    )  # fmt: skip
    reports = [json.loads(path.read_text()) for path in out.glob("*/report.json")]
    return [report["score"] + report["pending"] >= report["max_score"] for report in reports]


TOOLS: dict[str, Callable[[Course, Path], list[bool]]] = {
    "otter": otter, "nbgrader": nbgrader, "gradescope-utils": gradescope_utils, "ours": ours,
}  # fmt: skip


def measure(course: Course, name: str, out: Path) -> tuple[float, float]:
    """Return wall and processor seconds a submission."""
    out.mkdir(parents=True)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    right = TOOLS[name](course, out)
    wall = (time.monotonic() - began) / len(right)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    core = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    core /= len(right)
    print(f"{name}: {wall:.2f} s, {core:.2f} core-seconds, {sum(right)} of {len(right)} wholly "
          "right", flush=True)  # fmt: skip
    return wall, core


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=Path, required=True)
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--sample", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        course = Course(Path(name), options.peers.resolve() / "bin", options.size, options.sample)
        rounds: dict[str, list[tuple[float, float]]] = {tool: [] for tool in TOOLS}
        for number in range(options.rounds):
            for tool, measured in rounds.items():
                measured.append(measure(course, tool, Path(name, f"round{number}", tool)))
        for tool, measured in rounds.items():
            wall = statistics.median(seconds for seconds, _ in measured)
            core = statistics.median(seconds for _, seconds in measured)
            ratio = statistics.median(
                theirs[0] / mine[0] for theirs, mine in zip(measured, rounds["ours"], strict=True)
            )
            print(f"{tool:17} {wall:6.2f} s  {core:6.2f} core-seconds  {ratio:5.1f} times ours")


if __name__ == "__main__":
    main()
