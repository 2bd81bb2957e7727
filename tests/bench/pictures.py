"""Draws the pictures of docs/, from what this machine measures now.

``python tests/bench/pictures.py`` writes ``docs/pictures/loop_against_noloop.svg``; with ``--png``
a PNG beside it. The notebook's sweep: B = 4, 8, … 124 matrices of 64×64, each function 20 times, in
processes of their own, on the host's reading of their processor time.

There is no picture from a GPU: none was there.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from drawings import Point, Sweep, draw_sweep, quartiles_of

from grader.observation import Outcome
from grader.run.materials import load_materials
from grader.run.session import ProcessSession
from grader.sandbox.host.open import open_sandbox
from grader.sandbox.host.processes import ProcessSpec
from grader.speed_statistics.sampling import Plan, Sample, calls_for, interleave
from grader.wire.messages import Call
from grader.wire.values import Tensor

ROOT = Path(__file__).parents[2]
LOOP, NOLOOP = "batched_matrix_multiply_loop", "batched_matrix_multiply_noloop"
SIDE, REPEATS, BLOCK = 64, 20, 0.010


def batch(size: int, calls: int, random: np.random.Generator) -> Tensor:
    """Matrices for so many calls."""
    shape = (calls, size, SIDE, SIDE)
    return Tensor("float32", shape, random.standard_normal(shape).astype("<f4").tobytes())


def measured(sessions: dict[str, ProcessSession], size: int, random: np.random.Generator) -> Point:
    """One size, both functions in turns."""

    def block(name: str, calls: int) -> Sample:
        args = batch(size, calls, random), batch(size, calls, random)
        seen = sessions[name].call(Call(name, args, block=calls), 60)
        assert seen.outcome is Outcome.COMPLETED, seen
        return Sample(calls, seen.facts.wall_seconds, seen.facts.cpu_seconds)

    def party(name: str) -> Callable[[int], Sample]:
        block(name, 1)
        calls = calls_for(BLOCK, block(name, 2).per_call, 8)
        return lambda _: block(name, calls)

    parties = {name: party(name) for name in (LOOP, NOLOOP)}
    run = interleave(parties, Plan(REPEATS, REPEATS, 60), random)
    assert run is not None
    loop, noloop = (
        quartiles_of([each.per_call for each in run.samples[name]]) for name in (LOOP, NOLOOP)
    )
    return Point(size, loop, noloop)


def sweep() -> Sweep:
    """The whole sweep."""
    random = np.random.default_rng(0)
    materials = load_materials(ROOT / "assignments" / "pytorch101" / "assignment.yml")
    with open_sandbox("auto") as sandbox:
        sessions = {
            name: ProcessSession(sandbox, materials.program(materials.reference))
            for name in (LOOP, NOLOOP)
        }
        for session in sessions.values():
            session.prepare(ProcessSpec(seconds=60, memory=2048 * 2**20, timed=True))
        points = tuple(measured(sessions, size, random) for size in range(4, 125, 4))
        for session in sessions.values():
            session.close()
    return Sweep(points, f"batched products of {SIDE}×{SIDE} matrices", REPEATS)


def main() -> None:
    """Measure, draw, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("--png", action="store_true")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    measured_now = sweep()
    for kind in ("svg", "png") if arguments.png else ("svg",):
        path = arguments.out / f"loop_against_noloop.{kind}"
        path.write_bytes(draw_sweep(measured_now, kind))
        print(f"Written: {path}")
    for point in measured_now.points[:: len(measured_now.points) // 4]:
        print(f"B = {point.size}: loop {1e3 * point.loop.middle:.3f} ms, "
              f"without {1e3 * point.noloop.middle:.3f} ms")  # fmt: skip


if __name__ == "__main__":
    main()
