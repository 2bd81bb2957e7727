"""A thousand mixed hand-ins through a batch of workers; afterwards nothing may be left of them.

``python tests/bench/soak.py --runs 1000 --jobs 4``, on a machine on which nobody else grades: what
another grader leaves behind, or has running, would be counted here.

Hand-ins are drawn with a seed from all labelled ones: accepted, wrong, faults, exploits, formats.
Their labels were written for other limits, so points are compared, not codes: no attack or wrong
answer may get more than its label says, no honest one less.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS)]

import jsonschema  # noqa: E402
from exploits.formats import FORMATS, Format  # noqa: E402
from exploits.lab import GPU_QUESTION, QUESTIONS  # noqa: E402
from labels import exploit_of, read_label, submissions_of  # noqa: E402

from grader.assignment.cells import LabelledSubmission  # noqa: E402
from grader.authoring.labels import Label, untimed  # noqa: E402
from grader.batch.discover import ClassSubmission  # noqa: E402
from grader.batch.local import LocalWorkers  # noqa: E402
from grader.batch.schedule import grade_all  # noqa: E402
from grader.grading import Grader, Options  # noqa: E402
from grader.report.model import report_schema  # noqa: E402
from grader.run.materials import Materials, load_materials  # noqa: E402
from grader.sandbox.host import fork_server  # noqa: E402
from grader.sandbox.host.open import open_sandbox  # noqa: E402
from grader.sandbox.host.processes import descendants  # noqa: E402
from grader.verdict import Code, Status  # noqa: E402

GROUPS = ("accepted", "exploits", "faults", "formats", "showcase", "timed", "wrong")
ASSIGNMENT = TESTS.parent / "assignments/pytorch101/assignment.yml"
LIMITS = {"seconds": 1.5, "import_seconds": 1.5, "memory_mb": 256}
"""Bounds one run. One attack waits four seconds at import; on a busy machine a second try has half
as much again."""
PLACES = ("/tmp", "/dev/shm", "/var/tmp")
OURS = ("grader-", "exploit")
FULL = 15.0
LISTS = ("gained", "refused", "invalid", "missing", "incomplete", "processes", "files", "mounts")
"""What must be empty afterwards. Incomplete: a hand-in made the infrastructure fail."""


@dataclass(frozen=True)
class Sample:
    """One hand-in, and the points that it may get at most, and must at least.

    Nothing is timed here. ``clock``: its label is about the clock; all others count what only the
    clock can settle as earned. ``waits``: questions of which a person gives points, by the label.
    """

    name: str
    path: Path
    most: float
    least: float
    clock: bool = False
    waits: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Left:
    """What there is on this machine that a hand-in could have left."""

    processes: frozenset[int]
    files: frozenset[str]
    mounts: tuple[str, ...]


@dataclass
class Outcome:
    """What came of a soak; every list must be empty."""

    runs: int = 0
    seconds: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    gained: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)
    processes: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    mounts: list[str] = field(default_factory=list)

    def problems(self) -> dict[str, list[str]]:
        """Return the lists that are not empty."""
        return {name: getattr(self, name) for name in LISTS if getattr(self, name)}


def soak(runs: int, jobs: int, seed: int) -> Outcome:
    """Grade ``runs`` hand-ins with ``jobs`` workers behind full walls, and look what is left."""
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        samples = list(_draw(runs, seed, Path(folder)))
        before = _left()
        out = Path(folder, "out")
        start = time.monotonic()
        outcome = _grade(samples, out, jobs)
        outcome.seconds = time.monotonic() - start
        _judge(samples, out, outcome)
        after = _left()
    outcome.processes = [_describe(pid) for pid in after.processes - before.processes]
    outcome.files = sorted(after.files - before.files)
    outcome.mounts = sorted(set(after.mounts) - set(before.mounts))
    return outcome


def _draw(runs: int, seed: int, folder: Path) -> Iterator[Sample]:
    drawn = random.Random(seed)
    kinds: list[LabelledSubmission | Format] = [*submissions_of("pytorch101", *GROUPS), *FORMATS]
    # Every one once, where there is room, and the rest by chance.
    chosen = drawn.sample(kinds, min(runs, len(kinds)))
    chosen += drawn.choices(kinds, k=runs - len(chosen))
    for number, kind in enumerate(chosen):
        name = f"{number:04}_{kind.name}"
        if isinstance(kind, Format):
            (folder / name).mkdir()
            points = FULL if kind.verdict == "ok" else 0.0
            yield Sample(name, kind.build(folder / name), points, points)
        else:
            label = read_label(kind)
            exploit = exploit_of(label)
            clock = exploit is not None and exploit.clock
            waits = frozenset(_waiting(label))
            yield Sample(name, kind.placed(folder), *_points(label, kind), clock, waits)


def _waiting(label: Label) -> Iterator[str]:
    """Yield the questions of which a label leaves points to a person."""
    for name, question in label.questions.items():
        if question.status == Status.DEFERRED.value:
            yield name


def _points(label: Label, submission: LabelledSubmission) -> tuple[float, float]:
    """Return the most and the least that a label allows; only honest work must get points.

    Honest work on the GPU alone must get none: nothing is computed on a device here.
    """
    honest = submission.group == "accepted" or "_control_correct" in submission.name
    asked = any(name in label.source for name in QUESTIONS if name != GPU_QUESTION)
    most = FULL if label.score is None else label.score
    return most, most if honest and asked else 0.0


def _grade(samples: list[Sample], out: Path, jobs: int) -> Outcome:
    materials = _materials()
    hidden = tuple(str(materials.reference_folder / name) for name in materials.reference)
    with open_sandbox("full", hidden=hidden) as sandbox:
        grader = Grader(materials, sandbox, Options(20, "cpu", QUESTIONS))
        grader.prepare()
    hand_ins = [ClassSubmission(sample.name, sample.path) for sample in samples]
    outcome = Outcome()
    workers = LocalWorkers(grader, lambda: open_sandbox("full", hidden=hidden), out, jobs)
    for graded in grade_all(workers, hand_ins, lambda _: False, once=False):
        outcome.runs += 1
        outcome.statuses[str(graded.report.status.value)] += 1
    return outcome


def _materials() -> Materials:
    materials = load_materials(ASSIGNMENT)
    limits = materials.assignment.limits.model_copy(update=LIMITS)
    assignment = materials.assignment.model_copy(update={"limits": limits})
    return replace(materials, assignment=assignment)


def _judge(samples: list[Sample], out: Path, outcome: Outcome) -> None:
    schema = jsonschema.Draft202012Validator(report_schema())
    for sample in samples:
        path = out / sample.name / "report.json"
        if not path.exists():
            outcome.missing.append(sample.name)
            continue
        try:
            report = json.loads(path.read_bytes())
            schema.validate(report)
        except (ValueError, jsonschema.ValidationError) as error:
            outcome.invalid.append(f"{sample.name}: {str(error)[:200]}")
            continue
        score = report["score"]
        if not sample.clock:
            score += sum(untimed(question) for question in report["questions"])
        told = f"{sample.name}: {score}"
        if score > sample.most:
            outcome.gained.append(f"{told}, at most {sample.most}")
        if report["status"] == "incomplete":
            outcome.incomplete.append(f"{told}; {_codes(report)}: {_failures(report)}")
        elif score + _left_open(report, sample.waits) < sample.least:
            outcome.refused.append(f"{told}, at least {sample.least}; {_codes(report)}")


def _left_open(report: dict[str, Any], questions: frozenset[str]) -> float:
    """Return the points that a person is to give, of some questions."""
    return float(
        sum(
            check["pending"]
            for question in report["questions"]
            if question["id"] in questions
            for check in question["checks"]
            if check["code"] == Code.NEEDS_REVIEW.value
        )
    )


def _codes(report: dict[str, Any]) -> str:
    codes = {check["code"] for question in report["questions"] for check in question["checks"]}
    return " ".join(sorted(codes - {"ok", "no_device"}))


def _failures(report: dict[str, Any]) -> str:
    checks = [check for question in report["questions"] for check in question["checks"]]
    return next((check["message"] for check in checks if check["status"] == "error"), "")


def _left() -> Left:
    processes = {pid for pid in _pids() if _is_ours(pid)} | set(descendants(os.getpid()))
    files = {str(path) for place in PLACES for path in Path(place).iterdir() if _is_trace(path)}
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return Left(frozenset(processes), frozenset(files), tuple(mounts))


def _pids() -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            yield int(entry.name)


def _is_ours(pid: int) -> bool:
    try:
        owner = Path(f"/proc/{pid}").stat().st_uid
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    # A process that is not dumpable seems to be root's; its status tells whose it is.
    real = next((int(line.split()[1]) for line in status.splitlines() if line[:4] == "Uid:"), -1)
    return name == "exploit-trace" or _is_slot(owner) or _is_slot(real)


def _is_slot(uid: int) -> bool:
    return fork_server.FIRST_USER <= uid < fork_server.FIRST_USER + fork_server.USERS


def _is_trace(path: Path) -> bool:
    try:
        return path.name.startswith(OURS) or _is_slot(path.lstat().st_uid)
    except OSError:
        return False


def _describe(pid: int) -> str:
    try:
        return f"{pid} {Path(f'/proc/{pid}/comm').read_text().strip()}"
    except OSError:
        return f"{pid} (gone meanwhile)"


def main() -> int:
    """Soak, print the counts, and tell by the exit status whether all was well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    outcome = soak(arguments.runs, arguments.jobs, arguments.seed)
    rate = outcome.runs / outcome.seconds
    print(f"{outcome.runs} runs in {outcome.seconds:.0f} s, {rate:.1f} a second")
    print(f"statuses: {dict(outcome.statuses)}")
    for name in LISTS:
        found = getattr(outcome, name)
        print(f"{name}: {len(found)}", *found, sep="\n  ")
    return 1 if outcome.problems() else 0


if __name__ == "__main__":
    sys.exit(main())
