"""Error rates of timing in passing: ``python tests/bench/screening.py [--verdicts 1000]``.

For the question that is graded on its speed: right code, code that takes two and four times as
long, code 1.25 times either side of the limit, and a loop. For the other questions with a rule “no
loops”: right code and the loop, as many verdicts for all of them together. Of each kind: how many
were *fast*, *slow* or left open, the greatest rate of wrong ones that is likely (95 %, one-sided,
by Clopper and Pearson), and what one took, the submission's process with it.

Two workers do it side by side; ``--load 3`` puts three processes beside them that burn a core each.
``--state FILE`` keeps every verdict, so that a run can be ended and gone on with: one FILE a load.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import median, quantiles

from clock_noise import LOOP, QUESTION, REPEATED, ROOT, Bench, burning

from grader.grading import Grader, Options
from grader.observation import FunctionTiming
from grader.run.materials import Materials, load_materials
from grader.run.plan import PlannedQuestion
from grader.run.timing.full_measurement import Subject
from grader.run.timing.quick_screen import Screener, scale_of
from grader.sandbox.host.open import open_sandbox
from grader.speed_statistics.vectorisation import votes

ASSIGNMENTS = ("pytorch101", "knn", "tensors")
BATCH = 10
"""Verdicts that a worker makes in one go."""

WRONG = {"loop": "fast", "1.25 times slower": "fast"}
"""Kind → the answer that is wrong; *slow* for all others."""

GRADED, DOUBTED = "graded", "doubted"


@dataclass(frozen=True)
class Cell:
    """One kind of code for one question.

    Attributes:
        group: Whether speed is graded, or a doubt about a loop is settled.
        source: Of the submission; the reference where empty.
    """

    group: str
    kind: str
    assignment: str
    question: str
    entry: str
    source: str = field(default="", repr=False)


@dataclass(frozen=True)
class Ready:
    """An assignment whose reference has run, and what screens its questions."""

    materials: Materials
    plan: dict[str, PlannedQuestion]
    screener: Screener


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verdicts", type=int, default=1000, help="of each kind")
    parser.add_argument("--load", type=int, default=0, help="processes that burn a core each")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--state", type=Path, help="keeps verdicts; gone on with where it exists")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        state = asked.state or Path(folder, "state.jsonl")
        cells = [*_graded(state), *_doubted()]
        context = multiprocessing.get_context("spawn")
        start = time.monotonic()
        with burning(asked.load), context.Pool(asked.workers) as pool, state.open("a") as file:
            work = list(_work(cells, asked.verdicts, _rows(state)))
            for rows in pool.imap_unordered(_verdicts, work):
                file.writelines(json.dumps(row) + "\n" for row in rows)
                file.flush()
        _print(_rows(state), asked, time.monotonic() - start)


def _graded(state: Path) -> Iterator[Cell]:
    near = next((row for row in _all(state) if "near" in row), None)
    if near is None:
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(Path(folder, "none"))
            found = {
                "1.25 times faster than the limit": bench.source_at(-math.log(1.25)),
                "1.25 times slower": bench.source_at(math.log(1.25)),
            }
        near = {"near": found}
        with state.open("a") as file:
            file.write(json.dumps(near) + "\n")
    sources = {
        "right": "",
        "two times": REPEATED.format(name=QUESTION, more=1),
        "four times": REPEATED.format(name=QUESTION, more=3),
        **near["near"],
    }
    for kind, source in sources.items():
        yield Cell(GRADED, kind, "pytorch101", QUESTION, QUESTION, source)
    yield Cell(GRADED, "loop", "pytorch101", QUESTION, LOOP)


def _doubted() -> Iterator[Cell]:
    for name in ASSIGNMENTS:
        for question in load_materials(_file(name)).assignment.questions:
            if question.timed is not None and question.id != QUESTION:
                yield Cell(DOUBTED, "right", name, question.id, question.names[0])
                yield Cell(DOUBTED, "loop", name, question.id, question.timed.loop)


def _work(cells: list[Cell], verdicts: int, done: list[dict]) -> Iterator[tuple[Cell, int]]:
    """Yield what is still to be done, a batch of each cell in turn."""
    have = Counter((row["group"], row["kind"], row["question"]) for row in done)
    shared = Counter((cell.group, cell.kind) for cell in cells)
    left = {}
    for cell in cells:
        wanted = -(-verdicts // shared[cell.group, cell.kind])
        left[cell] = wanted - have[cell.group, cell.kind, cell.question]
    for start in range(0, max(left.values(), default=0), BATCH):
        for cell, number in left.items():
            if number > start:
                yield cell, min(BATCH, number - start)


def _verdicts(work: tuple[Cell, int]) -> list[dict]:
    """Return of each verdict: what it said, and milliseconds of processor time and of wall."""
    cell, number = work
    ready = _ready(cell.assignment)
    assignment = ready.materials.assignment
    files = ready.materials.reference
    if cell.source:
        files = {assignment.module: cell.source.encode()}
    planned = ready.plan[cell.question]
    subject = Subject(
        planned,
        cell.entry,
        planned.question.names[0],
        files,
        assignment.limits_of(planned.question),
    )
    rows = []
    for _ in range(number):
        before, start = time.process_time(), time.monotonic()
        timing = ready.screener.screen(subject)
        used = time.process_time() - before + _in_blocks(timing)
        said = "none"
        if timing is not None:
            said = votes(timing.screens[-1], scale_of(subject)).value
        rows.append({
            "group": cell.group, "kind": cell.kind, "question": cell.question, "said": said,
            "used": round(1e3 * used, 2), "wall": round(1e3 * (time.monotonic() - start), 2),
            "load": round(os.getloadavg()[0], 1),
        })  # fmt: skip
    return rows


@cache
def _ready(name: str) -> Ready:
    materials, sandbox = load_materials(_file(name)), open_sandbox("auto")
    timed = tuple(q.id for q in materials.assignment.questions if q.timed is not None)
    grader = Grader(materials, sandbox, Options(1, "virtual", timed))
    grader.prepare()
    # Other inputs in each process.
    screener = Screener(materials, sandbox, os.getpid())
    return Ready(materials, {each.question.id: each for each in grader.plan}, screener)


def _file(name: str) -> Path:
    return ROOT / "assignments" / name / "assignment.yml"


def _in_blocks(timing: FunctionTiming | None) -> float:
    return sum(
        sample.cost
        for screen in (timing.screens if timing else ())
        for samples in screen.run.samples.values()
        for sample in samples
    )


def _all(state: Path) -> list[dict]:
    return [json.loads(line) for line in state.read_text().splitlines()] if state.exists() else []


def _rows(state: Path) -> list[dict]:
    return [row for row in _all(state) if "said" in row]


def at_most(wrong: int, of: int) -> float:
    """Return the greatest rate at which so few would be wrong in one run of twenty."""
    low, high = wrong / of, 1.0
    for _ in range(60):
        rate = (low + high) / 2
        chance = sum(math.comb(of, k) * rate**k * (1 - rate) ** (of - k) for k in range(wrong + 1))
        low, high = (rate, high) if chance > 0.05 else (low, rate)
    return high


def _print(rows: list[dict], asked: argparse.Namespace, seconds: float) -> None:
    loads = sorted(row["load"] for row in rows)
    print(
        f"{len(rows)} verdicts, {asked.workers} workers, {os.cpu_count()} cores, "
        f"{asked.load} burners, load {loads[0]} … {median(loads)} … {loads[-1]}; "
        f"the last {seconds:.0f} s"
    )
    print("| code | fast | slow | left open | wrong | ms of processor time, median / p95 | ms |")
    print("|---|---|---|---|---|---|---|")
    for group in (GRADED, DOUBTED):
        for kind in dict.fromkeys(row["kind"] for row in rows if row["group"] == group):
            mine = [row for row in rows if (row["group"], row["kind"]) == (group, kind)]
            print(_line(f"{group}: {kind}", mine, WRONG.get(kind, "slow")))
    for question in dict.fromkeys(row["question"] for row in rows if row["group"] == DOUBTED):
        for kind in ("right", "loop"):
            mine = [row for row in rows if (row["question"], row["kind"]) == (question, kind)]
            if mine:
                print(_line(f"`{question}`: {kind}", mine, WRONG.get(kind, "slow")))


def _line(name: str, rows: list[dict], wrong: str) -> str:
    said = Counter(row["said"] for row in rows)
    used, wall = [row["used"] for row in rows], [row["wall"] for row in rows]
    counts = " | ".join(str(said[each]) for each in ("fast", "slow", "none"))
    bound = f"{said[wrong]} (≤ {100 * at_most(said[wrong], len(rows)):.2g} %)"
    high = quantiles(used, n=20)[-1] if len(used) > 1 else used[0]
    return f"| {name} | {counts} | {bound} | {median(used):.0f} / {high:.0f} | {median(wall):.0f} |"


if __name__ == "__main__":
    main()
