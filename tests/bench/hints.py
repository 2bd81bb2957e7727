"""What labelled wrong submissions are told of their mistakes, counted.

A sentence of a known mistake is true where that mistake bears the name of the labelled submission,
or one that its label lists under ``mistakes``. A relation is proved by the numbers
(``grader.checks.diagnoses``). A submission is silent where neither is told. Of each submission the
best of these counts.

    python tests/bench/hints.py pytorch101 knn tensors

Results are kept in ``build/hints`` as they come, so that a run that was stopped goes on. What has
another text since then, or an assignment with other mistakes, is graded again; after a change to
the grader itself, remove the folder.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Set
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import toy_starter
from labels import ROOT, read_label, submissions_of

from grader.assignment.cells import LabelledSubmission
from grader.grading import Grader, Options
from grader.report.model import Report
from grader.run.materials import Materials, load_materials
from grader.run.mistakes import OF_RESULTS
from grader.verdict import Status


def told(true: Set[str], report: Report) -> str:
    """Return what a submission is told; empty if its results are right.

    Args:
        true: Names of the known mistakes that it has.
        report: On it.
    """
    failed = [
        check
        for question in report.questions
        for check in question.checks
        if check.status is Status.FAILED and check.code in OF_RESULTS
    ]
    named = {check.params["mistake"] for check in failed if "mistake" in check.params}
    if named:
        return "true" if named <= true else "false"
    if any("cause" in check.params for check in failed):
        return "proved"
    return "silent" if failed else ""


class Kept:
    """What submissions of an assignment were told, in a file that grows a line each.

    Args:
        assignment: Its id.
        materials: Its files; what was told with others does not count.
        seed: Of the inputs.
    """

    def __init__(self, assignment: str, materials: Materials, seed: int) -> None:
        self._file = ROOT / "build/hints" / f"{assignment}.txt"
        self._about = f"{seed} {materials.starter_digest}".encode()
        self._file.parent.mkdir(parents=True, exist_ok=True)
        text = self._file.read_text() if self._file.exists() else ""
        self._kinds = {
            key: kind for key, _, kind in (line.partition(" ") for line in text.split("\n"))
        }

    def kind(self, submission: LabelledSubmission, grade: Callable[[], str]) -> str:
        """Return what it is told, from before or from ``grade``."""
        # A label says which sentences are true, and is a part of the text.
        key = hashlib.sha256(self._about + submission.data).hexdigest()
        if key not in self._kinds:
            self._kinds[key] = grade()
            with self._file.open("a") as file:
                file.write(f"{key} {self._kinds[key]}\n")
        return self._kinds[key]


def counted(assignment: str, seed: int) -> Counter[str]:
    """Return how many submissions of an assignment are told what."""
    materials = load_materials(ROOT / "assignments" / assignment / "assignment.yml")
    counts: Counter[str] = Counter()
    kept = Kept(assignment, materials, seed)
    with toy_starter.lent() as sandbox, tempfile.TemporaryDirectory() as folder:
        grader = Grader(materials, sandbox, Options(seed=seed, device="virtual"))

        def grade(submission: LabelledSubmission) -> str:
            if not grader.plan:
                grader.prepare()
            path = submission.placed(Path(folder))
            true = {submission.name} | read_label(submission).mistakes
            return told(true, grader.grade(path, submission.name))

        for submission in submissions_of(assignment, "wrong"):
            if submission.module is None:
                continue
            kind = kept.kind(submission, partial(grade, submission))
            counts[kind] += 1
            if kind == "false":
                print(f"false: {assignment}/{submission.name}")
    return counts


def main() -> None:
    """Print a line an assignment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assignments", nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for assignment in options.assignments:
        counts = counted(assignment, options.seed)
        kinds = ("true", "proved", "silent", "false")
        print(assignment, ", ".join(f"{kind} {counts[kind]}" for kind in kinds))


if __name__ == "__main__":
    main()
