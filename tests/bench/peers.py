"""Seconds a submission: this grader against gradescope-utils, otter and nbgrader, in one run.

All grade the same submissions of three functions on the same inputs, one torch thread each, by the
command that a course would use, with its defaults and over all cores where it can: ``grader batch``
and one ``nbgrader autograde`` for the class; for each submission one ``otter run`` or one process
with gradescope-utils, as many at a time as there are cores. otter and nbgrader get the source as a
notebook of one cell. Ours makes all its checks behind walls, those included that the others cannot
make, and starts anew in each round. The others' seconds do not depend on how large a class is, so
they grade its first submissions only; ours grades all of them.

How many submissions each finds wholly right is printed beside, so that a tool that fails is not
taken for one that is fast. otter and nbgrader are not among this project's packages: ``make bench``
installs them into ``build/peers``, and without them they are left out.

    python tests/bench/peers.py [--peers build/peers] [--size 120] [--sample 6] [--rounds 3]
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import nbformat
import peer_cases
import processes
from nbformat.v4 import new_code_cell, new_notebook

from grader.checks.arrays import to_numpy
from grader.grading import Grader, Options
from grader.interpreter import ONE_THREAD
from grader.run.materials import load_materials
from grader.sandbox.host.open import open_sandbox
from grader.wire.values import Tensor

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from labels import submissions_of  # noqa: E402

QUESTIONS = (
    "batched_matrix_multiply_loop",
    "batched_matrix_multiply_noloop",
    "normalize_columns",
)
BASELINE = Path(__file__).with_name("gradescope_baseline.py")
REFERENCE = ROOT / "reference/pytorch101/pytorch101.py"
JOBS = os.cpu_count() or 1
POINTS = 5


def make_class(folder: Path, size: int) -> None:
    """Write submissions: the labelled ones, accepted and wrong, in turn."""
    labelled = list(submissions_of("pytorch101", "accepted", "wrong"))
    for number in range(size):
        target = folder / f"student{number:04d}"
        target.mkdir(parents=True)
        (target / "pytorch101.py").write_bytes(labelled[number % len(labelled)].data)


def write_cases(grader: Grader, path: Path) -> int:
    """Write the cases whose arguments are all tensors; return their number."""
    cases = [
        {"entry": planned.question.id, "args": [_plain(arg) for arg in case.inputs.args]}
        for planned in grader.plan
        for case in planned.cases
        if all(isinstance(arg, Tensor) for arg in case.inputs.args)
    ]
    path.write_text(json.dumps(cases))
    return len(cases)


def _plain(arg: Tensor) -> dict[str, object]:
    data = to_numpy(arg).ravel().tolist()
    return {"data": data, "dtype": arg.dtype, "shape": list(arg.shape)}


class Course:
    """The same class, laid out for each tool.

    Args:
        folder: Empty; all is written there.
        peers: ``bin`` of the environment of otter and nbgrader.
        size: Submissions.
        sample: Submissions that others grade.
    """

    def __init__(self, folder: Path, peers: Path, size: int, sample: int) -> None:
        self.folder, self.peers, self.sample = folder, peers, sample
        self.submissions = folder / "class"
        make_class(self.submissions, size)
        self.cases = folder / "cases.json"
        materials = load_materials(ROOT / "assignments/pytorch101/assignment.yml")
        with open_sandbox("auto") as sandbox:
            grader = Grader(materials, sandbox, Options(1, "cpu", QUESTIONS))
            grader.prepare()
        self.count = write_cases(grader, self.cases)
        if self.has("otter"):
            self._for_otter()
        if self.has("nbgrader"):
            self._for_nbgrader()

    def has(self, name: str) -> bool:
        """Whether a command of the peers is installed."""
        return (self.peers / name).exists()

    def first(self) -> list[Path]:
        """Return the submissions that others grade."""
        return sorted(self.submissions.iterdir())[: self.sample]

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
            peer_cases.REFERENCE: str(REFERENCE),
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

    def one(path: Path) -> bool:
        results = out / path.stem
        results.mkdir()
        course.tool(
            "otter", "run", "-a", "autograder.zip", "-o", str(results), "--no-logo", path.name,
            where=path.parent,
        )  # fmt: skip
        tests = json.loads((results / "results.json").read_text())["tests"]
        return sum(test.get("score", 0) for test in tests) >= POINTS * len(QUESTIONS)

    return _all_at_work(one, sorted((course.folder / "otter").glob("student*.ipynb")))


def nbgrader(course: Course, out: Path) -> list[bool]:
    """Grade with nbgrader; return which have all points."""
    folder, grades = course.folder / "nbgrader", out / "grades.csv"
    course.tool("nbgrader", "autograde", "ps1", "--force", where=folder)
    course.tool("nbgrader", "export", "--to", str(grades), where=folder)
    rows = csv.DictReader(grades.read_text().splitlines())
    return [float(row["score"] or 0) >= POINTS * len(QUESTIONS) for row in rows]


def gradescope_utils(course: Course, out: Path) -> list[bool]:
    """Grade with one gradescope-utils process each; return which have all points."""

    def one(path: Path) -> bool:
        results = out / f"{path.name}.json"
        subprocess.run(
            [sys.executable, str(BASELINE), str(path / "pytorch101.py"),
             str(REFERENCE), str(course.cases), str(results)],
            env=course.environment(), capture_output=True, check=False, timeout=300,
        )  # fmt: skip
        # A submission that cannot be imported leaves an empty file here.
        text = results.read_text()
        return bool(text) and float(json.loads(text)["score"]) >= course.count

    return _all_at_work(one, course.first())


def _all_at_work(one: Callable[[Path], bool], paths: list[Path]) -> list[bool]:
    with ThreadPoolExecutor(JOBS) as pool:
        return list(pool.map(one, paths))


def ours(course: Course, out: Path) -> list[bool]:
    """Grade the whole class with this grader; return which have all points."""
    assignment = ROOT / "assignments/pytorch101/assignment.yml"
    subprocess.run(
        [str(Path(sys.executable).with_name("grader")), "batch", str(assignment),
         str(course.submissions), "--out", str(out), "--seed", "1",
         "--questions", ",".join(QUESTIONS)],
        capture_output=True, check=False, timeout=1800,
    )  # fmt: skip
    reports = [json.loads(path.read_text()) for path in out.glob("*/report.json")]
    return [report["score"] + report["pending"] >= report["max_score"] for report in reports]


TOOLS: dict[str, Callable[[Course, Path], list[bool]]] = {
    "ours": ours, "gradescope-utils": gradescope_utils, "nbgrader": nbgrader, "otter": otter,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cost:
    """What a tool takes for a submission: wall seconds over all cores, and processor seconds."""

    wall: float
    core: float


def measure(course: Course, name: str, out: Path) -> Cost:
    """Grade once with a tool."""
    out.mkdir(parents=True)
    before, began = processes.core_seconds(os.getpid()), time.monotonic()
    watched = processes.Watched(os.getpid())
    right = TOOLS[name](course, out)
    wall = (time.monotonic() - began) / len(right)
    watched.stop()
    core = (watched.seconds - before) / len(right)
    print(f"{name}: {wall:.2f} s, {core:.2f} core-seconds, {sum(right)} of {len(right)} wholly "
          "right", file=sys.stderr, flush=True)  # fmt: skip
    return Cost(wall, core)


def compare(peers: Path, size: int, sample: int, rounds: int) -> dict[str, list[Cost]]:
    """Grade with each tool in turn, round by round; return tool → its rounds."""
    with tempfile.TemporaryDirectory() as name:
        course = Course(Path(name), peers.resolve() / "bin", size, sample)
        tools = [tool for tool in TOOLS if tool not in {"otter", "nbgrader"} or course.has(tool)]
        found: dict[str, list[Cost]] = {tool: [] for tool in tools}
        for number in range(rounds):
            for tool, costs in found.items():
                costs.append(measure(course, tool, Path(name, f"round{number}", tool)))
        return found


def times_ours(found: dict[str, list[Cost]], tool: str) -> float:
    """Return how many times our wall time a tool takes, the median over the rounds."""
    pairs = zip(found[tool], found["ours"], strict=True)
    return statistics.median(theirs.wall / mine.wall for theirs, mine in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=Path, default=ROOT / "build/peers")
    parser.add_argument("--size", type=int, default=120)
    parser.add_argument("--sample", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    found = compare(options.peers, options.size, options.sample, options.rounds)
    for tool, costs in found.items():
        wall = statistics.median(cost.wall for cost in costs)
        core = statistics.median(cost.core for cost in costs)
        print(f"{tool:17} {wall:6.2f} s  {core:6.2f} core-seconds  "
              f"{times_ours(found, tool):5.1f} times ours")  # fmt: skip


if __name__ == "__main__":
    main()
