"""Error rates of timing in passing: ``python tests/bench/screening.py [--verdicts 300]``.

For right code, code that takes two and four times as long, code 1.25 times either side of the limit
and a loop: how many verdicts were *fast*, *slow* or left to care, and the time that one took, the
submission's process with it. Two workers do it side by side, and with ``--burners 3`` beside three
processes that burn a core each.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median, quantiles

from clock_noise import HALF, LOOP, QUESTION, REPEATED, ROOT, Bench, burning

from grader.clock.screen import votes
from grader.observation import Timing
from grader.run.screening import Screener
from grader.run.timed import Subject

REFERENCE = ROOT / "reference/pytorch101/pytorch101.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verdicts", type=int, default=300, help="of each kind")
    parser.add_argument("--burners", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder, "none"))
        near = {
            "1.25 times faster than the limit": bench.source_at(-math.log(1.25)),
            "1.25 times slower": bench.source_at(math.log(1.25)),
        }
    load = os.getloadavg()[0]
    print(
        f"{asked.workers} workers, {os.cpu_count()} cores, {asked.burners} burners, load {load:.1f}"
    )
    print("| code | fast | slow | left to care | ms of processor time, median / p95 | ms of wall |")
    print("|---|---|---|---|---|---|", flush=True)
    reference = REFERENCE.read_text()
    kinds = {
        "right": (reference, QUESTION),
        "two times": (REPEATED.format(name=QUESTION, more=1), QUESTION),
        "four times": (REPEATED.format(name=QUESTION, more=3), QUESTION),
        **{name: (source, QUESTION) for name, source in near.items()},
        "loop": (reference, LOOP),
    }
    share = -(-asked.verdicts // asked.workers)
    context = multiprocessing.get_context("spawn")
    with burning(asked.burners), context.Pool(asked.workers) as pool:
        for kind, (source, entry) in kinds.items():
            parts = [(seed, share, source, entry) for seed in range(asked.workers)]
            rows = [row for part in pool.starmap(_verdicts, parts) for row in part]
            said = Counter(row[0] for row in rows)
            used, wall = [row[1] for row in rows], [row[2] for row in rows]
            counts = " | ".join(str(said[name]) for name in ("fast", "slow", "none"))
            high = quantiles(used, n=20)[-1]
            row = f"| {kind} | {counts} | {median(used):.0f} / {high:.0f} | {median(wall):.0f} |"
            print(row, flush=True)


def _verdicts(seed: int, number: int, source: str, entry: str) -> list[tuple[str, float, float]]:
    """Return of each verdict: what it said, and milliseconds of processor time and of wall."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder, "none"))
    screener = Screener(bench.materials, bench.sandbox, seed)
    subject = Subject(bench.planned, entry, {"pytorch101.py": source.encode()}, bench.limits)
    rows = []
    for _ in range(number):
        before, start = time.process_time(), time.monotonic()
        timing = screener.screen(subject)
        used = time.process_time() - before + _in_blocks(timing)
        said = "none" if timing is None else votes(timing.screens[-1], HALF).value
        rows.append((said, 1e3 * used, 1e3 * (time.monotonic() - start)))
    return rows


def _in_blocks(timing: Timing | None) -> float:
    return sum(
        sample.cost
        for screen in (timing.screens if timing else ())
        for samples in screen.run.samples.values()
        for sample in samples
    )


if __name__ == "__main__":
    main()
