"""How a batch grows with its class: seconds, memory and bytes written, for each submission.

Classes of small submissions: one question, its labelled solutions in turn, each with a comment of
its own so that no two have the same digest. Everything is as `grader batch` has it by default. With
``--nodes``, one class is graded by `--engine ray` too, on local clusters of so many nodes of one
core, beside this machine's own workers with as many jobs.

    python tests/bench/growth.py [--sizes 10 100 1000] [--nodes 2 4]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import processes

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from labels import submissions_of  # noqa: E402

QUESTION = "normalize_columns"
RAY_CLASS = 100


@dataclass(frozen=True, slots=True)
class Size:
    """What a class of one size took.

    Attributes:
        count: Reports written.
        used: By the batch.
        written: Bytes of its output folder.
        journal: Bytes of the journal alone.
    """

    count: int
    used: processes.Used
    written: int
    journal: int


def make_class(folder: Path, size: int) -> None:
    """Write ``size`` different submissions."""
    labelled = submissions_of("pytorch101", "accepted", "wrong")
    sources = [each.data for each in labelled if QUESTION.encode() in each.data]
    for number in range(size):
        target = folder / f"student{number:05d}"
        target.mkdir(parents=True)
        source = sources[number % len(sources)]
        (target / "pytorch101.py").write_bytes(source + b"\n# %d\n" % number)


def measure(size: int, *options: str) -> Size:
    """Grade a class of one size."""
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name) / "class", Path(name) / "out"
        make_class(folder, size)
        command = [
            sys.executable, "-m", "grader", "batch", "pytorch101", folder, "--out", out,
            "--seed", "1", "--questions", QUESTION, *options,
        ]  # fmt: skip
        used = processes.run(command, ROOT)
        files = [path for path in out.rglob("*") if path.is_file()]
        journal = sum(path.stat().st_size for path in files if "journal" in path.name)
        count = len(list(out.glob("*/report.json")))
        if count < size:
            print(used.output[-2000:], file=sys.stderr)
        return Size(count, used, sum(path.stat().st_size for path in files), journal)


def row(name: str, found: Size) -> str:
    """Return a line of a Markdown table."""
    used, count = found.used, max(found.count, 1)
    cells = (
        name,
        f"{used.wall:.0f} s",
        f"{used.wall / count * 1000:.0f} ms",
        f"{used.core / count:.2f}",
        f"{used.peak / 2**20:.0f} MiB",
        f"{found.written / count / 1e3:.0f} kB",
        f"{found.journal / count / 1e3:.1f} kB",
    )
    return f"| {' | '.join(cells)} |"


def on_ray(nodes: int) -> Size:
    """Grade a class on a Ray cluster of this machine."""
    from ray.cluster_utils import Cluster  # noqa: PLC0415  not among our packages

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        for _ in range(nodes - 1):
            cluster.add_node(num_cpus=1)
        os.environ["RAY_ADDRESS"] = cluster.address
        return measure(RAY_CLASS, "--engine", "ray", "-j", str(nodes))
    finally:
        os.environ.pop("RAY_ADDRESS", None)
        cluster.shutdown()


HEADINGS = (
    "class", "wall time", "a submission", "core-seconds each", "peak memory (PSS)", "written each",
    "journal each",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=(10, 100, 1000))
    parser.add_argument("--nodes", type=int, nargs="*", default=())
    options = parser.parse_args()
    print(f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}", flush=True)
    for size in options.sizes:
        print(row(f"{size}", measure(size)), flush=True)
    for nodes in options.nodes:
        print(row(f"{RAY_CLASS}, {nodes} local jobs", measure(RAY_CLASS, "-j", str(nodes))))
        print(row(f"{RAY_CLASS}, Ray, {nodes} nodes", on_ray(nodes)), flush=True)


if __name__ == "__main__":
    main()
