"""A class of a thousand through `grader batch`: wall time, hand-ins a second, peak memory.

Each hand-in is the whole reference with the functions of a labelled one, accepted or wrong, in the
place of its own, and a comment, so that no two have the same digest and all twenty questions of all
of them run. Memory is the sum of all processes' proportional shares (PSS), looked at twice a
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
import threading
import time
from pathlib import Path

from grader.checks.arrays import to_numpy
from grader.run.grade import Grader, Options
from grader.run.materials import load_materials
from grader.sandbox.open import open_sandbox
from grader.wire.values import Tensor

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "reference/pytorch101/pytorch101.py"
LABELLED = ROOT / "tests/submissions/pytorch101"
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
    labelled = sorted([*LABELLED.glob("accepted/*.py"), *LABELLED.glob("wrong/*.py")])
    sources = [source for path in labelled if _compiles(source := whole + path.read_bytes())]
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


class Watched:
    """What a process and all below it use at most.

    Attributes:
        peak: Bytes of memory, shared ones in parts.
        processes: So many had them.
        seconds: Of processor time, that of processes that ended included.
    """

    def __init__(self, pid: int) -> None:
        self.peak, self.processes, self.seconds = 0, 0, 0.0
        self._pid = pid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(0.5):
            used = _tree(self._pid)
            self.seconds = max(self.seconds, sum(used.values()))
            shares = [share for pid in used if (share := _share(pid))]
            if sum(shares) > self.peak:
                self.peak, self.processes = sum(shares), len(shares)


def _tree(root: int) -> dict[int, float]:
    """Return the processor time of a process and of all below it, with that of ended children."""
    parents, seconds = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])
        seconds[int(folder.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return {pid: seconds[pid] for pid in parents if _below(pid, root, parents)}


def _below(pid: int, root: int, parents: dict[int, int]) -> bool:
    while pid in parents and pid != root:
        pid = parents[pid]
    return pid == root


def _share(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


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
    """Seconds of a hand-in's own code, the mean of a sample of the class."""
    paths = random.Random(1).sample(sorted(folder.iterdir()), SAMPLE)
    seconds = []
    for path in paths:
        command = [sys.executable, "-c", OWN_WORK, str(cases), str(path / "pytorch101.py")]
        told = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        seconds.append(float(told.stdout.splitlines()[-1]))
    return sum(seconds) / len(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name) / "class", Path(name) / "out"
        make_class(folder, options.size)
        command = [
            str(Path(sys.executable).with_name("grader")), "batch", "pytorch101", str(folder),
            "--out", str(out), "-j", str(options.jobs), "--seed", "1",
        ]  # fmt: skip
        print(f"load before: {os.getloadavg()[0]:.1f}", flush=True)
        began = time.monotonic()
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        watched = Watched(process.pid)
        told = process.communicate()[0]
        seconds = time.monotonic() - began
        watched.stop()
        print("\n".join(told.splitlines()[-12:]))
        count = len(list(out.glob("*/report.json")))
        core = watched.seconds
        print(f"\n{count} hand-ins, {options.jobs} at a time: {seconds:.0f} s, "
              f"{count / seconds:.1f} a second, {core / count:.2f} core-seconds each; exit status "
              f"{process.returncode}, load after {os.getloadavg()[0]:.1f}")  # fmt: skip
        print(f"peak memory {watched.peak / 2**20:.0f} MiB in {watched.processes} processes")
        carried, calls = write_cases(Path(name) / "cases.json")
        own = own_work(folder, Path(name) / "cases.json")
        times = (core - own * count) / (own * count)
        print(f"students’ own code: {own * 1000:.0f} ms a submission ({carried} of {calls} calls); "
              f"the grader’s own is {times:.1f} times that")  # fmt: skip


if __name__ == "__main__":
    main()
