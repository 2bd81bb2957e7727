"""A course with one small assignment, of which Gradescope cannot give every point."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.run.materials import Materials, load_materials

ASSIGNMENT = """\
schema: torchgrade/assignment/v1
id: toy
version: "1"
title: Toy
hand_in: [toy.py]
questions:
  - id: mm_on_gpu
    title: A product
    points: 3
    needs: {cuda: 1}
    cases:
      - {id: small, args: {x: {rand: [16, 32]}, w: {rand: [32, 24]}}}
    checks:
      - {id: precise, kind: product, factors: [x, w], points: 1.25}
      - {id: shape, kind: shape, points: 0.75, requires: [precise]}
      - {id: speed, kind: speedup, points: 1, cpu: mm_on_cpu, values: precise, case: small}
  - id: in_processes
    title: Squares by others
    points: 4
    needs: {processes: 2}
    cases:
      - {id: few, args: {x: {rand: [4]}}}
    checks:
      - {id: values, kind: close, rtol: 1e-5, atol: 1e-5, points: 4}
  - id: double
    title: Twice
    points: 2
    cases:
      - {id: some, args: {x: {rand: [4]}}}
    checks:
      - {id: values, kind: close, rtol: 1e-5, atol: 1e-5, points: 2}
"""
REFERENCE = """\
def mm_on_cpu(x, w):
    return x.mm(w)


def mm_on_gpu(x, w):
    return x.cuda().mm(w.cuda()).cpu()


def in_processes(x):
    return x * x


def double(x):
    return x * 2
"""


def write_toy(root: Path) -> Materials:
    """Write the assignment, and return it."""
    for name, content in (
        ("assignments/toy/assignment.yml", ASSIGNMENT),
        ("reference/toy/toy.py", REFERENCE),
    ):
        path = root / name
        path.parent.mkdir(parents=True)
        path.write_text(content)
    return load_materials(root / "assignments/toy/assignment.yml")


@pytest.fixture
def toy(tmp_path: Path) -> Materials:
    """The assignment, in ``tmp_path/course``."""
    return write_toy(tmp_path / "course")


@pytest.fixture(scope="session")
def one_toy(tmp_path_factory: pytest.TempPathFactory) -> Materials:
    """The same, for what is done once; not to be written to."""
    return write_toy(tmp_path_factory.mktemp("toy"))
