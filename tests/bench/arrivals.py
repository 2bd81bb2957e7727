"""What a look into a watched folder costs as it grows; `grader batch --watch` looks all the time.

Processor time of the host, smallest of five: a look in which nothing is new, and one that finds a
submission. Grading is left out. A look comes at least 20 times its own time after the one before.

    python tests/bench/arrivals.py [--sizes 100 1000 10000]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from grader.batch.discover import discover
from grader.batch.watch import Arrivals

TIMES = 5


def _arrive(folder: Path, number: int) -> None:
    place = folder / f"student{number:05d}"
    place.mkdir()
    (place / "pytorch101.py").write_text(f"# {number}\n")


def _look(arrivals: Arrivals, expected: int) -> float:
    began = time.process_time()
    found = arrivals.look()
    spent = time.process_time() - began
    assert len(found) == expected, "the bench no longer fits what it measures"
    return spent


def measure(folder: Path, size: int) -> tuple[float, float]:
    """Return seconds of a quiet look, and of one that finds a submission."""
    for number in range(size):
        _arrive(folder, number)
    out = folder.parent / "out"
    arrivals = Arrivals(folder, out, discover(folder, out).submissions)
    arrivals.look()
    arrivals.look()  # all that was there stood still, and is known
    quiet, finding = [], []
    for number in range(size, size + TIMES):
        _arrive(folder, number)
        quiet.append(_look(arrivals, 0))
        finding.append(_look(arrivals, 1))
    return min(quiet), min(finding)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10000])
    print("| submissions in the folder | a look | one that finds a submission |\n|---|---|---|")
    for size in parser.parse_args().sizes:
        with tempfile.TemporaryDirectory() as home:
            folder = Path(home) / "drop"
            folder.mkdir()
            quiet, finding = measure(folder, size)
        print(f"| {size:,} | {1000 * quiet:.0f} ms | {1000 * finding:.0f} ms |")


if __name__ == "__main__":
    main()
