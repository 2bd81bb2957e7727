"""Submissions a second: this grader against one fresh gradescope-utils process for each hand-in.

Both grade the same hand-ins on the same inputs, four at a time, one torch thread each, in
alternating rounds of one run; ours with whatever isolation is asked for, wall proof, judging and
both JSON files included. The class is made of the labelled accepted and wrong submissions. Checks
that the baseline cannot make (loops, operations) are left out, unless ``--all-checks`` is given.

    python tests/bench/throughput.py [--size 400] [--rounds 3] [--isolation full] [--all-checks]
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from grader.batch.local import LocalWorkers
from grader.batch.platforms import discover
from grader.batch.schedule import grade_all
from grader.checks.arrays import to_numpy
from grader.run.grade import Grader, Options
from grader.run.materials import Materials, load_materials
from grader.sandbox.open import open_sandbox
from grader.wire.values import Tensor

ROOT = Path(__file__).parents[2]
JOBS = 4
KINDS = ("exact", "close", "product", "envelope", "shape", "dtype", "unmodified")
"""Check kinds that look at what a function returns and at its arguments, as the baseline does."""

QUESTIONS = (
    "batched_matrix_multiply_loop",
    "batched_matrix_multiply_noloop",
    "normalize_columns",
)
BASELINE = Path(__file__).with_name("gradescope_baseline.py")
REFERENCE = ROOT / "reference/pytorch101/pytorch101.py"


def only(materials: Materials, kinds: tuple[str, ...]) -> Materials:
    """Return the assignment with checks of these kinds alone."""
    questions = tuple(
        question.model_copy(
            update={"checks": tuple(check for check in question.checks if check.kind in kinds)}
        )
        for question in materials.assignment.questions
    )
    assignment = materials.assignment.model_copy(update={"questions": questions})
    return replace(materials, assignment=assignment)


def make_class(folder: Path, size: int) -> None:
    labelled = ROOT / "tests/submissions/pytorch101"
    files = sorted([*labelled.glob("accepted/*.py"), *labelled.glob("wrong/*.py")])
    for number in range(size):
        target = folder / f"student{number:04d}"
        target.mkdir()
        shutil.copy(files[number % len(files)], target / "pytorch101.py")


def write_cases(grader: Grader, path: Path) -> int:
    """Write the cases whose arguments are all tensors; return their number."""
    cases = [
        {
            "entry": planned.question.id,
            "args": [
                {
                    "data": to_numpy(arg).ravel().tolist(),
                    "dtype": arg.dtype,
                    "shape": list(arg.shape),
                }
                for arg in case.inputs.args
            ],
        }
        for planned in grader.plan
        for case in planned.cases
        if all(isinstance(arg, Tensor) for arg in case.inputs.args)
    ]
    path.write_text(json.dumps(cases))
    return len(cases)


def ours(grader: Grader, isolation: str, folder: Path, out: Path) -> tuple[float, float]:
    """Return submissions a second in all, and from the first report to the last."""
    hand_ins = discover(folder, out).hand_ins
    began = time.monotonic()
    workers = LocalWorkers(grader, lambda: open_sandbox(isolation), out, JOBS)
    times = [time.monotonic() for _ in grade_all(workers, hand_ins, lambda _: False, once=False)]
    return len(times) / (times[-1] - began), (len(times) - 1) / (times[-1] - times[0])


def baseline(folder: Path, cases: Path, out: Path, count: int) -> float:
    def one(path: Path) -> None:
        command = [sys.executable, str(BASELINE), str(path / "pytorch101.py"), str(REFERENCE)]
        results = out / f"{path.name}.json"
        subprocess.run(
            [*command, str(cases), str(results)],
            env={"OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"},
            capture_output=True,
            check=False,
            timeout=120,
        )

    paths = sorted(folder.iterdir())[:count]
    began = time.monotonic()
    with ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(one, paths))
    return len(paths) / (time.monotonic() - began)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--isolation", default="full")
    parser.add_argument("--all-checks", action="store_true")
    options = parser.parse_args()
    materials = load_materials(ROOT / "assignments/pytorch101/assignment.yml")
    if not options.all_checks:
        materials = only(materials, KINDS)
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name) / "class", Path(name) / "out"
        folder.mkdir()
        out.mkdir()
        make_class(folder, options.size)
        with open_sandbox(options.isolation) as sandbox:
            grader = Grader(materials, sandbox, Options(1, "cpu", QUESTIONS))
            grader.prepare()
        count = write_cases(grader, out / "cases.json")
        rows = []
        for number in range(options.rounds):
            theirs = baseline(folder, out / "cases.json", out, 24)
            total, steady = ours(grader, options.isolation, folder, out / f"round{number}")
            rows.append((theirs, total, steady))
            print(
                f"round {number + 1}: gradescope-utils {theirs:.2f}/s, ours {total:.1f}/s "
                f"with start-up, {steady:.1f}/s once started: {total / theirs:.1f} and "
                f"{steady / theirs:.1f} times",
                flush=True,
            )
        ratios = [(total / theirs, steady / theirs) for theirs, total, steady in rows]
        with_start, started = (statistics.median(column) for column in np.array(ratios).T)
        print(
            f"{options.size} hand-ins, {count} cases, {JOBS} at a time: median {with_start:.1f} "
            f"times with start-up, {started:.1f} times once started"
        )


if __name__ == "__main__":
    main()
