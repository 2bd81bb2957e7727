"""kill -9 at twenty moments of a batch and at each kind of write: resumed, is it as if nothing was?

An undisturbed run of a class gives the gradebook to be had, and the wall time over which the first
twenty moments are spread, one drawn in each twentieth. Then the process is killed before and after
each kind of write to the journal, and in the middle of writing reports. Each batch is gone on with
by `--resume`; compared are gradebook.csv, every report.json but for times and machine, and the
journal's rows.

    python tests/bench/kill_points.py [--points 20] [--size 16] [--seed 1]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.batch.ledger import graded_so_far
from grader.store.journal import JOURNAL_FILE, open_journal

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from labels import submissions_of  # noqa: E402

QUESTIONS = "normalize_columns,create_sample_tensor"
# Killed by itself at the Nth call of a function, before or after it has run.
AT_A_WRITE = """
import importlib, os, signal, sys
module, _, name = sys.argv[1].partition(":")
nth, when = int(sys.argv[2]), sys.argv[3]
owner = importlib.import_module(module)
*path, last = name.split(".")
for part in path:
    owner = getattr(owner, part)
real, calls = getattr(owner, last), 0
def counted(*args, **named):
    global calls
    calls += 1
    if calls == nth and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    result = real(*args, **named)
    if calls == nth and when == "after":
        os.kill(os.getpid(), signal.SIGKILL)
    return result
setattr(owner, last, counted)
sys.argv = ["grader", *sys.argv[4:]]
from grader.cli.app import main
main()
"""
WRITES = (
    ("the journal is begun", "grader.batch.ledger:create", 1),
    ("first hand-in recorded", "grader.store.journal:Journal.record", 1),
    ("one in the middle recorded", "grader.store.journal:Journal.record", 4),
    ("the last but one recorded, a copy", "grader.store.journal:Journal.record", 7),
    ("report.json of a copy or first", "grader.batch.schedule:write_report", 2),
    ("the gradebook", "grader.batch.ledger:write_gradebook", 1),
)


@dataclass(frozen=True)
class Class:
    """A batch to be killed."""

    assignment: str
    folder: Path
    more: tuple[str, ...]
    at: Path = ROOT

    def words(self, out: Path, *more: str) -> list[str]:
        return [
            "batch", self.assignment, str(self.folder), "--out", str(out), "-j", "2",
            "--seed", "7", "--clock", "off", *self.more, *more,
        ]  # fmt: skip

    def run(self, out: Path, *more: str, hook: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
        begin = ["-c", AT_A_WRITE, *hook] if hook else ["-m", "grader"]
        command = [sys.executable, *begin, *self.words(out, *more)]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, cwd=self.at, stdout=quiet, stderr=quiet)

    def resume(self, out: Path) -> None:
        status = self.run(out, "--resume").wait(600)
        assert status == 0, f"--resume ended with {status}"


def state(out: Path) -> dict[str, Any]:
    """Return everything that a batch leaves, but for times and the machine."""
    reports = {
        path.parent.name: without_times(json.loads(path.read_text()))
        for path in sorted(out.glob("*/report.json"))
    }
    with open_journal(out / JOURNAL_FILE) as journal:
        rows = {
            done.submission.name: (
                done.digest,
                done.timed,
                without_times(json.loads(done.said.model_dump_json())),
                journal.kept(done.submission.name) is None,
            )
            for done in graded_so_far(journal)
        }

    return {
        "gradebook": (out / "gradebook.csv").read_bytes(), "reports": reports, "journal": rows,

    }  # fmt: skip


def without_times(report: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in report.items() if name not in ("timing", "environment")}


def killed(batch: Class, out: Path, after: float) -> str:
    """Kill a batch after some seconds; return how far it was."""
    process = batch.run(out)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return f"{len(list(out.glob('*/report.json')))} reports written"


def killed_at(batch: Class, out: Path, function: str, nth: int, when: str) -> str:
    """Have a batch kill itself at a write; a worker that dies ends the batch too."""
    status = batch.run(out, hook=(function, str(nth), when)).wait(600)
    assert status in (-signal.SIGKILL, 1), f"was not killed: ended with {status}"
    return f"{len(list(out.glob('*/report.json')))} reports written"


def make_class(folder: Path, size: int) -> None:
    """A class of the labelled hand-ins; every fourth has handed in what somebody else has."""
    labelled = list(submissions_of("pytorch101", "accepted", "wrong"))
    chosen = random.Random(3).sample(labelled, size)
    folder.mkdir()
    for number in range(size):
        same = chosen[number - 1 if number % 4 == 3 else number]
        (folder / f"student{number:02}.py").write_bytes(same.data)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=20)
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    drawn = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        make_class(home / "class", options.size)
        batch = Class("pytorch101", home / "class", ("--questions", QUESTIONS))
        began = time.monotonic()
        assert batch.run(home / "whole").wait() == 0
        seconds = time.monotonic() - began
        whole = state(home / "whole")
        print(f"undisturbed: {options.size} hand-ins in {seconds:.1f} s; seed {options.seed}, load "
              f"{os.getloadavg()[0]:.1f}", flush=True)  # fmt: skip
        differ = 0
        for number in range(options.points):
            after = seconds * (number + drawn.random()) / options.points
            how = killed(batch, home / "killed", after)
            differ += tell(f"after {after:5.2f} s", how, batch, home / "killed", whole)
        for title, function, nth in WRITES:
            for when in ("before", "after"):
                how = killed_at(batch, home / "killed", function, nth, when)
                differ += tell(f"{when} {title}", how, batch, home / "killed", whole)
        print(f"{differ} of {options.points + 2 * len(WRITES)} differ")
    return bool(differ)


def tell(where: str, how: str, batch: Class, out: Path, whole: dict[str, Any]) -> bool:
    batch.resume(out)
    now = state(out)
    wrong = [part for part in whole if whole[part] != now[part]]
    print(f"killed {where}: {how}; {', '.join(wrong) or 'identical'}", flush=True)
    shutil.rmtree(out)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
