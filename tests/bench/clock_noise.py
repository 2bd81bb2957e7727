"""How noise moves what is graded on speed: ``python tests/bench/clock_noise.py --state FILE``.

Prints, once on the machine as it is and once beside six processes that burn a core each:

* the coefficient of variation of the ratio loop : vectorised, as three usual ways measure it and as
  one set of ours does (``--ratios``);
* verdicts on right vectorised code, on a loop, and on code 1.25 times either side of the threshold
  (``--verdicts``, for each), with the wall time of each, process starts included;
* the same verdicts simulated: sets drawn anew, with replacement, from those that were measured.

Every verdict is added to the state file, so that a run can be ended and gone on with.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, median, quantiles, stdev

from grader.checks.speed import Vectorised
from grader.grading import Grader, Options
from grader.observation import FunctionTiming, HostFacts, Observation, Outcome
from grader.run.materials import load_materials
from grader.run.timing.full_measurement import FullTimer, Subject
from grader.sandbox.host.open import open_sandbox
from grader.speed_statistics.credit import Decision, single
from grader.speed_statistics.vectorisation import SpeedEstimate, pace_of, weigh

ROOT = Path(__file__).parents[2]
QUESTION = "batched_matrix_multiply_noloop"
LOOP = "batched_matrix_multiply_loop"
BURNERS = 6
HALF = single(0.5)
KINDS = ("right", "loop", "1.25 times faster than the threshold", "1.25 times slower")
SIMULATED = 1000
_TRIES = 3

USUAL = """
import json, statistics, sys, time
import torch
from torch.utils.benchmark import Timer
torch.set_num_threads(1)
x, y = torch.randint(-8, 9, (512, 2, 3)).float(), torch.randint(-8, 9, (512, 3, 2)).float()

def loop(x, y):
    z = x.new_empty((x.shape[0], x.shape[1], y.shape[2]))
    for i in range(x.shape[0]):
        z[i] = torch.mm(x[i], y[i])
    return z

def once(f):
    start = time.perf_counter()
    f(x, y)
    return time.perf_counter() - start

def autorange(f):
    timer = Timer("f(x, y)", globals={"f": f, "x": x, "y": y})
    return timer.adaptive_autorange(min_run_time=0.1, max_run_time=2.0).median

loop(x, y), torch.bmm(x, y)
for line in sys.stdin:
    single = once(loop) / once(torch.bmm)
    pairs = [(once(loop), once(torch.bmm)) for _ in range(20)]
    averaged = statistics.mean(a for a, _ in pairs) / statistics.mean(b for _, b in pairs)
    start = time.perf_counter()
    adaptive = autorange(loop) / autorange(torch.bmm)
    print(json.dumps([single, averaged, adaptive, time.perf_counter() - start]), flush=True)
"""

REPEATED = """
import torch

def {name}(x, y):
    for _ in range({more}):
        torch.bmm(x, y)
    return torch.bmm(x, y)
"""


class Bench:
    """Times hand-ins as the grader does; the reference runs once."""

    def __init__(self, state: Path) -> None:
        self.materials = load_materials(ROOT / "assignments/pytorch101/assignment.yml")
        self.sandbox = open_sandbox("auto")
        options = Options(1, "cpu", (QUESTION,))
        grader = Grader(self.materials, self.sandbox, options)
        grader.prepare()
        (self.planned,) = grader.plan
        self.limits = self.materials.assignment.limits
        self.state = state
        self.seeds = random.SystemRandom()

    def time(self, source: str, entry: str = QUESTION) -> FunctionTiming:
        files = {"pytorch101.py": source.encode()}
        timer = FullTimer(self.materials, self.sandbox, self.seeds.randrange(2**31))
        return timer.time(Subject(self.planned, entry, QUESTION, files, self.limits))

    def verdict(self, cell: str, source: str, entry: str) -> None:
        start = time.monotonic()
        timing = self.time(source, entry)
        seconds = time.monotonic() - start
        seen = Observation(Outcome.COMPLETED, HostFacts(timing=timing))
        check = Vectorised(id="fast", points=1)
        verdict = check.judge(self.planned.cases[-1].inputs, seen, seen)
        sets = [_logs(pace_of([run])) for run in timing.runs]
        row = {"cell": cell, "code": verdict.code.value, "seconds": seconds, "sets": sets}
        with self.state.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def rows(self, cell: str) -> list[dict]:
        if not self.state.exists():
            return []
        rows = [json.loads(line) for line in self.state.read_text().splitlines()]
        return [row for row in rows if row["cell"] == cell]

    def source_at(self, excess: float) -> str:
        """Return code whose log(time / time allowed) is about ``excess``, found by trying."""
        more = 20
        for _ in range(_TRIES):
            runs = self.time(REPEATED.format(name=QUESTION, more=more)).runs
            pace = pace_of(runs)
            if pace.student:
                # Nearly all of its time is that of the repetitions.
                more = max(1, round((more + 1) * math.exp(excess - median(pace.excess(0.5)))) - 1)
        return REPEATED.format(name=QUESTION, more=more)


def _logs(pace: SpeedEstimate) -> list[float] | None:
    return [pace.student[0], pace.loop[0], pace.prepared[0]] if pace.student else None


@contextmanager
def burning(number: int) -> Iterator[None]:
    """Keep so many processes busy meanwhile."""
    burners = [multiprocessing.Process(target=_burn, daemon=True) for _ in range(number)]
    for burner in burners:
        burner.start()
    try:
        yield
    finally:
        for burner in burners:
            burner.terminate()


def _burn() -> None:
    while True:
        sum(range(10_000))


def ratios(bench: Bench, number: int) -> None:
    """Print the variation of the ratio, ways beside one another in turns."""
    loop = (ROOT / "reference/pytorch101/pytorch101.py").read_text()
    usual = subprocess.Popen(
        [sys.executable, "-c", USUAL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert usual.stdin is not None
    assert usual.stdout is not None
    found: list[list[float]] = []
    seconds: list[float] = []
    ours: list[float] = []
    again: list[float] = []
    for _ in range(number):
        usual.stdin.write("\n")
        usual.stdin.flush()
        *three, took = json.loads(usual.stdout.readline())
        found.append(three)
        seconds.append(took)
        for run in bench.time(loop).runs:
            pace = pace_of([run])
            ours += [math.exp(value) for value in pace.loop]
            again.append(_control(run))
    usual.stdin.close()
    usual.wait()
    names = ("single shot", "mean of 20", f"adaptive_autorange ({median(seconds):.1f} s)")
    for name, values in zip(names, zip(*found, strict=True), strict=True):
        print(f"  {name}: CV {_cv(list(values)):.1%} of {len(values)}")
    print(f"  one set of ours: CV {_cv(ours):.1%} of {len(ours)}")
    if len(again) > 1:
        low, _, high = quantiles(again, n=4)
        print(f"  A/A: middle half {low:+.1%} to {high:+.1%}")


def _control(run: object) -> float:
    from grader.speed_statistics.credit import log_ratio  # noqa: PLC0415
    from grader.speed_statistics.vectorisation import AGAIN, VECTORISED  # noqa: PLC0415

    return math.expm1(log_ratio(run, AGAIN, VECTORISED))  # type: ignore[arg-type]


def _cv(values: list[float]) -> float:
    return stdev(values) / mean(values) if len(values) > 1 else math.nan


def verdicts(bench: Bench, load: str, number: int, until: float) -> None:
    """Make verdicts of all kinds in turns, until there are enough of each or time is up."""
    margin = math.log(1.25)
    loop = (ROOT / "reference/pytorch101/pytorch101.py").read_text()
    sources = {
        KINDS[0]: (loop, QUESTION),
        KINDS[1]: (loop, LOOP),
        KINDS[2]: (bench.source_at(-margin), QUESTION),
        KINDS[3]: (bench.source_at(margin), QUESTION),
    }
    while time.monotonic() < until:
        open_kinds = [k for k in KINDS if len(bench.rows(f"{load}: {k}")) < number]
        if not open_kinds:
            break
        for kind in open_kinds:
            bench.verdict(f"{load}: {kind}", *sources[kind])


def summary(bench: Bench, load: str) -> None:
    """Print what the state file holds of one load."""
    for kind in KINDS:
        rows = bench.rows(f"{load}: {kind}")
        if not rows:
            continue
        codes = Counter(row["code"] for row in rows)
        seconds = sorted(row["seconds"] for row in rows)
        sets = [item for row in rows for item in row["sets"]]
        made = ", ".join(f"{code} {count}" for code, count in sorted(codes.items()))
        print(f"  {kind}: {len(rows)} verdicts: {made}")
        steady = [item for item in sets if item]
        indices = [a / b for a, b, _ in steady]
        print(
            f"    seconds: median {median(seconds):.1f}, greatest {seconds[-1]:.1f}; sets "
            f"{len(sets)}, unsteady {len(sets) - len(steady)}; index {median(indices):.3f}, CV of "
            f"the ratio to the vectorised reference {_cv([math.exp(a) for a, *_ in steady]):.1%}, "
            f"of the loop's {_cv([math.exp(b) for _, b, _ in steady]):.1%}"
        )
        print(f"    simulated from these sets, {SIMULATED} verdicts: {_simulated(sets)}")


def _simulated(sets: list[list[float] | None]) -> str:
    drawn, codes = random.Random(0), Counter()
    for _ in range(SIMULATED):
        student: list[float] = []
        loops: list[float] = []
        lone: list[float] = []
        for number in range(1, 10):
            found = drawn.choice(sets)
            if found:
                student.append(found[0])
                loops.append(found[1])
                lone.append(found[2])
            pace = SpeedEstimate(tuple(student), tuple(loops), number, tuple(lone))
            given = weigh(pace, HALF)
            if given.decision is not Decision.MORE:
                break
        right = "left to a person" if pace.shared else "passed"
        passed = right if given.share else "failed"
        codes[passed if given.decision is Decision.PASSED else "inconclusive"] += 1
    return ", ".join(f"{code} {count}" for code, count in sorted(codes.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--state", type=Path, required=True, help="file that verdicts are added to")
    parser.add_argument("--verdicts", type=int, default=1000, help="of each kind, under each load")
    parser.add_argument("--ratios", type=int, default=20, help="repetitions for the variation")
    parser.add_argument("--burners", type=int, default=BURNERS, help="of the second load")
    parser.add_argument("--minutes", type=float, default=600.0, help="for verdicts, a load")
    arguments = parser.parse_args()
    bench = Bench(arguments.state)
    try:
        for load, burners in (("as it is", 0), (f"{arguments.burners} burners", arguments.burners)):
            print(f"{load}:", flush=True)
            with burning(burners):
                if arguments.ratios:
                    ratios(bench, arguments.ratios)
                until = time.monotonic() + 60 * arguments.minutes
                if arguments.verdicts:
                    verdicts(bench, load, arguments.verdicts, until)
            summary(bench, load)
    finally:
        bench.sandbox.close()


if __name__ == "__main__":
    main()
