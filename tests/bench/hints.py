"""What labelled wrong submissions are told of their mistakes, counted.

A sentence of a known mistake is true where that mistake bears the name of the labelled submission,
or one that its label lists under ``mistakes``. A relation is proved by the numbers
(``grader.checks.causes``). A submission is silent where neither is told. Of each submission the
best of these counts.

    python tests/bench/hints.py pytorch101 knn tensors
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Set
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import toy_starter
from labels import ROOT, read_label, submissions_of

from grader.grading import Grader, Options
from grader.report.model import Report
from grader.run.materials import load_materials
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


def counted(assignment: str, seed: int) -> Counter[str]:
    """Return how many submissions of an assignment are told what."""
    materials = load_materials(ROOT / "assignments" / assignment / "assignment.yml")
    counts: Counter[str] = Counter()
    with toy_starter.lent() as sandbox, tempfile.TemporaryDirectory() as folder:
        grader = Grader(materials, sandbox, Options(seed=seed, device="virtual"))
        grader.prepare()
        for submission in submissions_of(assignment, "wrong"):
            if submission.module is None:
                continue
            path = submission.placed(Path(folder))
            true = {submission.name} | read_label(submission).mistakes
            kind = told(true, grader.grade(path, submission.name))
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
