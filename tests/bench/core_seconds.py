"""Processor time of grading one submission, the fork-server up: host, processes, source reader.

Grades the reference as a submission again and again; medians, in seconds. Wall time beside it says
how busy the machine was: what takes turns cannot take more processor time than that.

    python tests/bench/core_seconds.py tensors [--repeats 20]
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

import processes

from grader.interpreter import keep_to_one_thread

keep_to_one_thread()  # as the command does, before numpy is loaded

from grader.grading import Grader, Options  # noqa: E402  after the line above
from grader.run.materials import load_materials  # noqa: E402
from grader.sandbox.host.open import open_sandbox  # noqa: E402

ROOT = Path(__file__).parents[2]


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
            before, start = processes.core_seconds(os.getpid()), time.monotonic()
            grader.grade(materials.reference_folder, "reference")
            wall.append(time.monotonic() - start)
            core.append(processes.core_seconds(os.getpid()) - before)
        calls = sum(len(planned.cases) for planned in grader.plan)
        counted = sum(len(case.counted) for planned in grader.plan for case in planned.cases)
    print(f"{options.assignment}: {calls} calls for values, {counted} counted, isolation "
          f"{sandbox.isolation.tier.value}")  # fmt: skip
    print(f"core-seconds {statistics.median(core):.2f} (most {max(core):.2f})")
    print(f"wall seconds {statistics.median(wall):.2f} (most {max(wall):.2f})")


if __name__ == "__main__":
    main()
