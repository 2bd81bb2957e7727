"""A class of a thousand through `grader batch`: wall time, submissions a second, peak memory.

Each submission is the whole reference with the functions of a labelled one, accepted or wrong, in
the place of its own, and a comment, so that no two have the same digest and all twenty questions of
all of them run. Memory is the sum of all processes' proportional shares (PSS), looked at twice a
second. The students' own code is what the same calls take in a process that does nothing else,
import included, for a sample of the class; a graded call runs once more to be counted, which is the
grader's doing.

Everything is as `grader batch` has it by default, the clock too. The grader's own processor time,
that of all its processes, is given as a multiple of the students' own.

    python tests/bench/class_of_1000.py [--size 1000] [--jobs N]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import processes

from grader.checks.arrays import to_numpy
from grader.grading import Grader, Options
from grader.run.materials import load_materials
from grader.sandbox.host.open import open_sandbox
from grader.wire.values import Tensor

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from labels import submissions_of  # noqa: E402

REFERENCE = ROOT / "reference/pytorch101/pytorch101.py"
SAMPLE = 24

OWN_WORK = """
import contextlib, io, json, sys, time, importlib.util
import torch
torch.set_num_threads(1)
cases = json.load(open(sys.argv[1]))
def value(arg):
    if isinstance(arg, dict):
        return torch.tensor(arg["data"], dtype=getattr(torch, arg["dtype"])).reshape(arg["shape"])
    return arg
began = time.perf_counter()
spent = 0.0
spec = importlib.util.spec_from_file_location("hand_in", sys.argv[2])
module = importlib.util.module_from_spec(spec)
with contextlib.redirect_stdout(io.StringIO()):
    with contextlib.suppress(Exception):
        spec.loader.exec_module(module)
    spent += time.perf_counter() - began
    for case in cases:
        args = [value(arg) for arg in case["args"]]
        began = time.perf_counter()
        with contextlib.suppress(Exception):
            getattr(module, case["entry"])(*args)
        spent += time.perf_counter() - began
print(spent)
"""


def make_class(folder: Path, size: int) -> None:
    whole = REFERENCE.read_bytes() + b"\n\n"
    labelled = submissions_of("pytorch101", "accepted", "wrong")
    sources = [source for each in labelled if _compiles(source := whole + each.data)]
    folder.mkdir()
    for number in range(size):
        target = folder / f"student{number:04d}"
        target.mkdir()
        source = sources[number % len(sources)]
        (target / "pytorch101.py").write_bytes(source + b"\n# %d\n" % number)


def _compiles(source: bytes) -> bool:
    """Tell whether two files are one: some have to begin with their first line."""
    try:
        compile(source, "pytorch101.py", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def write_cases(path: Path) -> tuple[int, int]:
    """Write the calls whose arguments JSON can carry; return their number and that of all."""
    materials = load_materials(ROOT / "assignments/pytorch101/assignment.yml")
    with open_sandbox("auto") as sandbox:
        grader = Grader(materials, sandbox, Options(1, "virtual"))
        grader.prepare()
    calls, count = [], 0
    for planned in grader.plan:
        for case in planned.cases:
            count += 1
            args = [_plain(arg) for arg in case.inputs.args]
            call = {"entry": planned.question.id, "args": args}
            with contextlib.suppress(TypeError):
                json.dumps(call)
                calls.append(call)
    path.write_text(json.dumps(calls))
    return len(calls), count


def _plain(arg: object) -> object:
    if not isinstance(arg, Tensor):
        return arg
    data = to_numpy(arg).ravel().tolist()
    return {"data": data, "dtype": arg.dtype, "shape": list(arg.shape)}


def own_work(folder: Path, cases: Path) -> float:
    """Seconds of a submission's own code, the mean of a sample of the class."""
    everybody = sorted(folder.iterdir())
    paths = random.Random(1).sample(everybody, min(SAMPLE, len(everybody)))
    seconds = []
    for path in paths:
        command = [sys.executable, "-c", OWN_WORK, str(cases), str(path / "pytorch101.py")]
        told = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        seconds.append(float(told.stdout.splitlines()[-1]))
    return sum(seconds) / len(seconds)


@dataclass(frozen=True, slots=True)
class Graded:
    """A class that was graded.

    Attributes:
        used: By ``grader batch``.
        count: Reports that it wrote.
        own: Seconds of a submission's own code.
        carried: Calls that ``own`` holds …
        calls: … of so many.
    """

    used: processes.Used
    count: int
    own: float
    carried: int
    calls: int

    @property
    def times(self) -> float:
        """The grader's own processor time as a multiple of the students'."""
        return self.used.core / (self.own * self.count) - 1


def measure(size: int, jobs: int) -> Graded:
    """Grade a class as `grader batch` does by default."""
    with tempfile.TemporaryDirectory() as name:
        folder, out, cases = Path(name) / "class", Path(name) / "out", Path(name) / "cases.json"
        make_class(folder, size)
        command = [
            Path(sys.executable).with_name("grader"), "batch", "pytorch101", folder,
            "--out", out, "-j", str(jobs), "--seed", "1", "--profile",
        ]  # fmt: skip
        used = processes.run(command, ROOT)
        carried, calls = write_cases(cases)
        count = len(list(out.glob("*/report.json")))
        return Graded(used, count, own_work(folder, cases), carried, calls)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    print(f"load before: {os.getloadavg()[0]:.1f}", flush=True)
    found = measure(options.size, options.jobs)
    used, count = found.used, found.count
    print("\n".join(used.output.splitlines()[-24:]))
    print(f"\n{count} submissions, {options.jobs} at a time: {used.wall:.0f} s, "
          f"{count / used.wall:.1f} a second, {used.core / count:.2f} core-seconds each; "
          f"exit status {used.status}, load after {os.getloadavg()[0]:.1f}")  # fmt: skip
    print(f"peak memory {used.peak / 2**20:.0f} MiB in {used.processes} processes")
    print(f"students’ own code: {found.own * 1000:.0f} ms a submission ({found.carried} of "
          f"{found.calls} calls); the grader’s own is {found.times:.1f} times that")  # fmt: skip


if __name__ == "__main__":
    main()
