"""Where the time of one hand-in goes: start, import, calls, judging, reports, end.

Grades the reference as a hand-in again and again and prints medians in milliseconds, the process
start of the command included as a line of its own. The hand-in's own work is what the same calls
take in a process that does nothing else.

    python tests/bench/overhead.py [--repeats 30] [--isolation full]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from grader.grading import Grader, Options
from grader.report.gradescope import write_results
from grader.report.model import write_report
from grader.run.materials import load_materials
from grader.run.session import ProcessSession
from grader.sandbox.host.open import open_sandbox
from grader.sandbox.host.processes import Sandbox

sys.path.insert(0, str(Path(__file__).parent))

from peers import write_cases

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "reference/pytorch101/pytorch101.py"
GRADER = [sys.executable, "-m", "grader", "grade", "pytorch101", str(REFERENCE), "--out"]


OWN_WORK = """
import importlib.util, json, statistics, sys, time
import torch
torch.set_num_threads(1)
spec = importlib.util.spec_from_file_location("hand_in", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
cases = [
    (getattr(module, case["entry"]), [
        torch.tensor(arg["data"], dtype=getattr(torch, arg["dtype"])).reshape(arg["shape"])
        for arg in case["args"]
    ])
    for case in json.load(open(sys.argv[2]))
]
times = []
for _ in range(50):
    began = time.perf_counter()
    for function, args in cases:
        function(*args)
    times.append(time.perf_counter() - began)
print(statistics.median(times) * 1000)
"""


class Laps:
    """Milliseconds by name."""

    def __init__(self) -> None:
        self.times: defaultdict[str, list[float]] = defaultdict(list)
        self._last = time.perf_counter()

    def start(self) -> None:
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.times[name].append((now - self._last) * 1000)
        self._last = now


def whole_command(repeats: int, isolation: str) -> float:
    times = []
    with tempfile.TemporaryDirectory() as out:
        for _ in range(repeats):
            began = time.perf_counter()
            command = [*GRADER, out, "--isolation", isolation, "--device", "cpu"]
            subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
            times.append(time.perf_counter() - began)
    return statistics.median(times)


def own_work(grader: Grader, folder: Path) -> float:
    """Milliseconds of all calls of the hand-in on tensors, without any grader."""
    write_cases(grader, folder / "cases.json")
    command = [sys.executable, "-c", OWN_WORK, str(REFERENCE), str(folder / "cases.json")]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def by_phase(grader: Grader, sandbox: Sandbox, laps: Laps) -> None:
    """One hand-in, step by step, as ``ProcessSession`` does it."""
    materials = load_materials(ROOT / "assignments/pytorch101/assignment.yml")
    session = ProcessSession(sandbox, materials.program(materials.reference))
    laps.start()
    session.prepare(grader.plan[0].process)
    laps.lap("process start, wall proof, import of the hand-in")
    for planned in grader.plan:
        for case in planned.cases:
            session.call(case.call(planned.question.id, planned.probes(case)), 10.0)
            laps.lap("one call: request, function, reply")
    session.close()
    laps.lap("end of the process, verified")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--isolation", default="full")
    parser.add_argument("--questions", nargs="*", default=())
    options = parser.parse_args()
    materials = load_materials(ROOT / "assignments/pytorch101/assignment.yml")
    laps = Laps()
    with open_sandbox(options.isolation) as sandbox, tempfile.TemporaryDirectory() as name:
        grader = Grader(materials, sandbox, Options(1, "cpu", options.questions))
        grader.prepare()
        for _ in range(options.repeats):
            by_phase(grader, sandbox, laps)
            laps.start()
            report = grader.grade(REFERENCE, "reference")
            laps.lap("a whole hand-in, without writing")
            laps.times["  of it judging"].append(report.timing.phases["judge"] * 1000)
            laps.start()
            write_report(report, Path(name))
            laps.lap("report.json")
            write_results(report, Path(name))
            laps.lap("results.json")
        own = own_work(grader, Path(name))
    whole = statistics.median(laps.times["a whole hand-in, without writing"])
    print(f"{'the hand-in’s own work':50s} {own:8.2f} ms  ({own / whole:.1%} of a whole hand-in)")
    for name, times in laps.times.items():
        print(f"{name:50s} {statistics.median(times):8.2f} ms  (n = {len(times)})")
    seconds = whole_command(5, options.isolation)
    print(f"{'grader grade, process start included':50s} {seconds * 1000:8.0f} ms  (n = 5)")


if __name__ == "__main__":
    main()
