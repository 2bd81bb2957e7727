#!/usr/bin/env python3
"""Fail unless every sample of `make grade` has a final grade.

Usage: python .ci/check_grades.py [FOLDER]     FOLDER is build/grades where absent

An *incomplete* report means that the machine or the grader failed, not the student. A *pending* one
waits for something, and a demonstration is to be final. Exit status 1, with one line for each such
report. Standard library only: CI runs this with any Python.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

SAMPLES = Path(__file__).parents[1] / "tests/submissions/pytorch101/showcase"


def faults(folder: Path) -> list[str]:
    """Return a line for each sample that is missing or incomplete in a folder of grades."""
    wanted = {path.stem for path in SAMPLES.iterdir()}
    status = {}
    for path in folder.glob("*/report.json"):
        status[path.parent.name] = json.loads(path.read_text(encoding="utf-8"))["status"]
    book = folder / "gradebook.csv"
    rows = {}
    if book.is_file():
        with book.open(encoding="utf-8", newline="") as file:
            rows = {row["submission"]: row["status"] for row in csv.DictReader(file)}
    found = []
    for name in sorted(wanted):
        if name not in status:
            found.append(f"{name}: no report.json in {folder}")
        elif rows.get(name) != status[name]:
            found.append(f"{name}: {status[name]}, but the gradebook says {rows.get(name)}")
        elif status[name] != "graded":
            found.append(f"{name}: {status[name]}; see {folder / name / 'report.json'}")
    return found


def main() -> int:
    """Print what is wrong and return the exit status."""
    found = faults(Path(sys.argv[1] if len(sys.argv) > 1 else "build/grades"))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
