"""What a student waits for: the first result, and the next one after saving a change.

Copies a starter, then runs there what a student runs: `grader check` and `pytest` from the prompt
to their end (and to the first result), then `--watch`: the first question of the reference is
changed and saved again and again, and what is measured is the time from seeing the change to its
result. Prints medians in seconds, and the processor time of the first two beside them: on a machine
that does other things as well, that is the steadier figure.

    python tests/bench/student.py [--assignment pytorch101] [--repeats 7] [--isolation none]
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from grader.selfcheck.engine import SelfCheck
from grader.selfcheck.folder import open_workplace
from grader.selfcheck.spare import open_for_check
from grader.selfcheck.watch import Watch

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


def command(arguments: list[str], folder: Path) -> tuple[float, float, float]:
    """Run a command; return seconds to the first result, to the end, and of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    process = subprocess.Popen(arguments, cwd=folder, stdout=subprocess.PIPE)
    assert process.stdout is not None
    # The first mark of either: pytest's letter of a test, or the check's line of a question.
    while (byte := process.stdout.read(1)) and byte.isspace():
        pass
    first = time.monotonic() - start
    process.stdout.read()
    process.wait()
    whole = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return first, whole, used


def watch(folder: Path, isolation: str, repeats: int) -> list[float]:
    """Return the seconds from seeing a change of the first question to its result."""
    place = open_workplace(folder)
    name = place.public.assignment.questions[0].names[0]
    text = place.hand_in.read_text()
    seconds = []
    with SelfCheck(place, open_for_check(isolation)) as own:
        watching = Watch(own)
        watching.run()
        own.make_ready()
        for number in range(repeats):
            # A student thinks for longer than a guest that is kept ready takes to start.
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
    parser.add_argument("--assignment", default="pytorch101")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--isolation", default="auto", choices=("auto", "none"))
    options = parser.parse_args()
    name, isolation = options.assignment, options.isolation
    print(f"{name}, isolation {isolation}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="student-") as scratch:
        folder = Path(scratch) / name
        shutil.copytree(ROOT / "starter" / name, folder)
        commands = {
            "grader check": [f"{BIN}/grader", "check", "--isolation", isolation],
            "pytest -q": [f"{BIN}/pytest", "-q", "--grader-isolation", isolation],
        }
        for said, arguments in commands.items():
            runs = [command(arguments, folder) for _ in range(max(1, options.repeats // 2))]
            first, whole, used = (statistics.median(part) for part in zip(*runs, strict=True))
            print(f"{said}: first result {first:.1f} s, all {whole:.1f} s, processor {used:.1f} s")
        shutil.copy(ROOT / "reference" / name / f"{name}.py", folder)
        seconds = watch(folder, isolation, options.repeats)
        print(
            f"--watch, one question: median {statistics.median(seconds):.2f} s, "
            f"slowest {max(seconds):.2f} s"
        )


if __name__ == "__main__":
    main()
