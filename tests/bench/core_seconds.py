"""Processor time of grading one hand-in, the fork-server up: host, guests, source reader.

Grades the reference as a hand-in again and again; medians, in seconds. Wall time beside it says how
busy the machine was: what takes turns cannot take more processor time than that.

    python tests/bench/core_seconds.py tensors [--repeats 20]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

from grader.run.grade import Grader, Options
from grader.run.materials import load_materials
from grader.sandbox.open import open_sandbox

ROOT = Path(__file__).parents[2]
TICKS = os.sysconf("SC_CLK_TCK")


def spent() -> float:
    """Return the processor time of this process and all below it, those that ended included."""
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended while it was looked at, and counts with its parent
        parents[int(folder.name)] = int(fields[1])
        seconds[int(folder.name)] = sum(map(int, fields[11:15])) / TICKS
    return sum(seconds[pid] for pid in parents if _is_ours(pid, parents))


def _is_ours(pid: int, parents: dict[int, int]) -> bool:
    while pid and pid != os.getpid():
        pid = parents.get(pid, 0)
    return pid == os.getpid()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assignment")
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    materials = load_materials(ROOT / "assignments" / options.assignment / "assignment.yml")
    with open_sandbox("auto") as sandbox:
        grader = Grader(materials, sandbox, Options(1, clock=True))
        grader.prepare()
        grader.grade(materials.reference_folder, "warm-up")
        core, wall = [], []
        for _ in range(options.repeats):
            before, start = spent(), time.monotonic()
            grader.grade(materials.reference_folder, "reference")
            wall.append(time.monotonic() - start)
            core.append(spent() - before)
        calls = sum(len(planned.cases) for planned in grader.plan)
        counted = sum(len(case.counted) for planned in grader.plan for case in planned.cases)
    print(f"{options.assignment}: {calls} calls for values, {counted} counted, isolation "
          f"{sandbox.isolation.tier.value}")  # fmt: skip
    print(f"core-seconds {statistics.median(core):.2f} (most {max(core):.2f})")
    print(f"wall seconds {statistics.median(wall):.2f} (most {max(wall):.2f})")


if __name__ == "__main__":
    main()
