"""What you run, what you wait, what a submission costs, beside other graders: one table.

Every command is run as a course runs it, with its default options. Commands on one file are run in
turn with a bare `import torch`, round by round, so that a busy machine slows all of them alike;
medians. `make bench` installs otter and nbgrader beside, runs this, and writes build/bench.md.

    python tests/bench/table.py [--rounds 5] [--class 1000] [--three 120] [--peers build/peers]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import class_of_1000
import peers
from processes import Wait, wait

ROOT = Path(__file__).parents[2]
GRADER = (sys.executable, "-m", "grader")
IMPORT = (sys.executable, "-c", "import torch; print()")
REFERENCE = ROOT / "reference/pytorch101/pytorch101.py"
HEADINGS = ("you run", "you wait", "a submission", "beside")


def one_file(rounds: int) -> Iterator[tuple[str, str, str, str]]:
    """Yield the rows of the commands on one file."""
    commands = {
        "python -c 'import torch'": IMPORT,
        "grader --help": (*GRADER, "--help"),
        "grader check": (*GRADER, "check"),
        "grader grade pytorch101 FILE, the first time": (*GRADER, "grade"),
        "grader grade pytorch101 FILE, again": (*GRADER, "grade"),
    }
    found: dict[str, list[Wait]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "starter/pytorch101", folder / "starter")
        shutil.copy(REFERENCE, folder / "starter")
        for number in range(rounds):
            # "The first time" leaves in this round's cache what "again" finds there.
            cache = folder / f"cache{number}"
            for said, command in commands.items():
                full, where = command, folder / "starter"
                if command[-1] == "grade":
                    full = (*command, "pytorch101", str(REFERENCE), "--out", str(folder / "out"))
                    where = ROOT
                found[said].append(wait(full, where, cache))
    alone = found["python -c 'import torch'"]
    for said, waits in found.items():
        whole = statistics.median(each.whole for each in waits)
        first = statistics.median(each.first for each in waits)
        more = statistics.median(
            each.whole - bare.whole for each, bare in zip(waits, alone, strict=True)
        )
        early = f"first verdict {first:.1f} s, " if said == "grader check" else ""
        beside = f"`import torch` {more:+.1f} s" if waits is not alone else ""
        yield f"`{said}`", f"{early}{whole:.1f} s", "", beside


def three_questions(size: int, rounds: int, folder: Path) -> Iterator[tuple[str, str, str, str]]:
    """Yield the rows of a class on three questions, with each tool."""
    found = peers.compare(folder, size, sample=6, rounds=rounds)
    for tool, costs in found.items():
        wall = statistics.median(cost.wall for cost in costs)
        core = statistics.median(cost.core for cost in costs)
        each = f"{wall:.2f} s, {core:.2f} core-seconds"
        if tool == "ours":
            said, times = f"`grader batch`, three questions, {size} submissions", ""
        else:
            said, times = f"{tool}, the same", f"{peers.times_ours(found, tool):.0f} times ours"
        yield said, f"{wall * size:.0f} s", each, times


def whole_class(size: int) -> tuple[str, str, str, str]:
    """Return the row of a class on all questions."""
    graded = class_of_1000.measure(size, os.cpu_count() or 1)
    used, count = graded.used, graded.count
    each = f"{used.wall / count:.2f} s, {used.core / count:.2f} core-seconds"
    beside = (
        f"{graded.times:.0f} times the students' own {graded.own * 1000:.0f} ms; "
        f"{used.peak / 2**20:.0f} MiB in {used.processes} processes"
    )
    return f"`grader batch pytorch101`, {count} submissions", f"{used.wall:.0f} s", each, beside


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--class", type=int, default=1000, dest="size")
    parser.add_argument("--three", type=int, default=120)
    parser.add_argument("--peers", type=Path, default=ROOT / "build/peers")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load before {os.getloadavg()[0]:.1f}\n", flush=True)
    print(f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}", flush=True)
    for row in one_file(options.rounds):
        print(f"| {' | '.join(row)} |", flush=True)
    for row in three_questions(options.three, max(1, options.rounds // 2), options.peers):
        print(f"| {' | '.join(row)} |", flush=True)
    print(f"| {' | '.join(whole_class(options.size))} |")
    print(f"\nLoad after {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
