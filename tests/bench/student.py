"""What a person waits for at a prompt: the first result, the last, and the next after a save.

Runs, in turn with a bare `import torch`, round by round, so that a busy machine slows all of them
alike: `grader check` and `pytest` in a copy of a starter that holds the reference, `grader grade`
of the reference the first time and again, `grader check` of a file with a syntax error, a help
text, the version and a usage error. Then `--watch`: the first question is changed and saved again
and again, from seeing the change to its result. Prints medians in seconds, and in brackets medians
of the differences to that round's import.

    python tests/bench/student.py [pytorch101 knn …] [--rounds 5] [--isolation none]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from processes import Wait, wait

from grader.selfcheck.engine import SelfCheck
from grader.selfcheck.terminal import SaveWatch
from grader.selfcheck.warm_sandbox import open_for_check
from grader.selfcheck.workplace import open_workplace

ROOT = Path(__file__).parents[2]
GRADER = (sys.executable, "-m", "grader")
BARE = "import torch"
BROKEN = "broken"
"""Folder of a starter in which the last line lacks a bracket."""


def rounds_of(name: str, isolation: str, rounds: int, folder: Path) -> dict[str, list[Wait]]:
    """Run each command so many times; return what was waited for, by command.

    Args:
        name: Assignment.
        isolation: Asked for.
        rounds: How many.
        folder: Holds the starter, in a folder of the assignment's name.
    """
    walls = ("--isolation", isolation)
    out = ("--out", str(folder / "out"))
    grade = (*GRADER, "grade", name, str(ROOT / f"reference/{name}/{name}.py"), *out, *walls)
    commands = {
        BARE: (sys.executable, "-c", "import torch"),
        "grader check": (*GRADER, "check", str(folder / name), *walls),
        "pytest -q": (
            sys.executable, "-m", "pytest", "-q", "--grader-isolation", isolation,
            "--rootdir", str(folder / name), str(folder / name),
        ),
        "grader grade, the first time": grade,
        "grader grade, again": grade,
        "grader check, a syntax error": (*GRADER, "check", str(folder / BROKEN)),
        "grader --help": (*GRADER, "--help"),
        "grader --version": (*GRADER, "--version"),
        "grader grade, wrong usage": (*GRADER, "grade", name),
    }  # fmt: skip
    found: dict[str, list[Wait]] = {said: [] for said in commands}
    for number in range(rounds):
        # "The first time" leaves in this round's cache what "again" finds there.
        for said, command in commands.items():
            found[said].append(wait(command, ROOT, folder / f"cache{number}"))
    return found


def rows(found: dict[str, list[Wait]]) -> Iterator[str]:
    """Yield a line for each command."""
    for said, waits in found.items():
        first, whole = (
            statistics.median(getattr(each, part) for each in waits) for part in ("first", "whole")
        )
        pairs = list(zip(waits, found[BARE], strict=True))
        sooner, later = (
            statistics.median(getattr(each, part) - bare.whole for each, bare in pairs)
            for part in ("first", "whole")
        )
        yield f"{said}: first {first:.2f} s ({sooner:+.2f}), all {whole:.2f} s ({later:+.2f})"


def watch(folder: Path, isolation: str, repeats: int) -> list[float]:
    """Return the seconds from seeing a change of the first question to its result."""
    place = open_workplace(folder)
    name = place.public.assignment.questions[0].names[0]
    text = place.hand_in.read_text()
    seconds = []
    with SelfCheck(place, open_for_check(isolation)) as own:
        watching = SaveWatch(own)
        watching.run()
        own.make_ready()
        for number in range(repeats):
            # A student thinks for longer than a process that is kept ready takes to start.
            time.sleep(8 if isolation == "none" else 1)
            body = f"\n    unused_{number} = {number}\n    # BEGIN SOLUTION"
            head, rest = text.split(f"def {name}(", 1)
            place.hand_in.write_text(
                f"{head}def {name}({rest.replace(f'{chr(10)}    # BEGIN SOLUTION', body, 1)}"
            )
            rerun = watching.run()
            assert len(rerun.questions) == 1, rerun.questions
            seconds.append(rerun.seconds)
            own.make_ready()
        watching.close()
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("assignments", nargs="*", default=["pytorch101"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--isolation", default="auto", choices=("auto", "none"))
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load before {os.getloadavg()[0]:.1f}")
    for name in options.assignments:
        print(f"\n{name}, isolation {options.isolation}", flush=True)
        with tempfile.TemporaryDirectory(prefix="student-") as scratch:
            folder = Path(scratch)
            shutil.copytree(ROOT / "starter" / name, folder / name)
            shutil.copy(ROOT / "reference" / name / f"{name}.py", folder / name)
            shutil.copytree(folder / name, folder / BROKEN)
            with (folder / BROKEN / f"{name}.py").open("a") as file:
                file.write("sizes = (1, 2\n")
            for row in rows(rounds_of(name, options.isolation, options.rounds, folder)):
                print(row, flush=True)
            if name == "pytorch101":
                seconds = watch(folder / name, options.isolation, options.rounds)
                print(
                    f"--watch, one question: median {statistics.median(seconds):.2f} s, "
                    f"slowest {max(seconds):.2f} s"
                )


if __name__ == "__main__":
    main()
