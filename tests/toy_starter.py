"""A small assignment with its starter, for the tests of what students use."""

from __future__ import annotations

import atexit
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import nbformat
import pytest

from grader.authoring.starter import MadeCases, build_starter, make_public, write_starter
from grader.run.materials import Materials, load_materials
from grader.sandbox.host.open import open_sandbox
from grader.sandbox.host.processes import (
    Isolation,
    OpenedSandbox,
    ProcessSpec,
    Sandbox,
    SandboxedProcess,
    SandboxSource,
)
from grader.selfcheck.files import to_files
from grader.speed_statistics.sampling import readable

SPEC = """\
schema: torchgrade/assignment/v1
id: toy
version: "1"
title: Toy
hand_in: [toy.py]
support: [helper.py]
given: [given]
questions:
  - id: double
    title: Twice as much
    points: 4
    cases:
      - {id: example, args: {x: {tensor: [[1.0, 2.0], [3.0, 4.0]]}}}
      - {id: drawn, dims: {N: [3, 9]}, args: {x: {randn: [N]}}, repeats: 2}
      - {id: kept_back, args: {x: {tensor: [31337]}}, visibility: hidden}
    checks:
      - {id: values, kind: exact, points: 2}
      - {id: dtype, kind: dtype, points: 1, requires: [values]}
      - {id: surprise, kind: exact, points: 1, cases: [kept_back], requires: [values]}
  - id: mean_of
    title: Mean
    points: 4
    cases:
      - {id: made, dims: {N: [3, 9]}, generate: secret_cases, repeats: 2}
      - {id: large, generate: large_cases}
    checks:
      - {id: values, kind: envelope, points: 2, cases: [made]}
      - {id: shape, kind: shape, points: 1, cases: [large], requires: [values]}
      - {id: no_loops, kind: loops, mode: none, points: 1, cases: [made], requires: [values]}
  - id: Counter
    title: Counting
    points: 2
    cases:
      - {id: shown, args: {n: 3}, scenario: count}
      - {id: tricky, args: {n: 5}, scenario: count_hidden}
    checks:
      - {id: total, kind: exact, points: 1, cases: [shown]}
      - {id: later, kind: exact, points: 1, cases: [tricky], requires: [total]}
  - id: unseen
    title: Only when graded
    points: 1
    visibility: hidden
    cases: [{id: one, args: {x: 1}}]
    checks: [{id: values, kind: exact, points: 1}]
"""

REFERENCE = '''\
import torch


def given(x):
    """Given."""
    return x


def double(x):
    """Twice x.

    Hint:
        Add it to itself.
    """
    # BEGIN SOLUTION
    return x + x
    # END SOLUTION


def mean_of(x):
    """The mean of a vector."""
    # BEGIN SOLUTION
    return x.sum() / len(x)
    # END SOLUTION


class Counter:
    """Counts."""

    def add(self, n):
        """Count on by n; return the total."""
        # BEGIN SOLUTION
        self.total = getattr(self, "total", 0) + n
        return self.total
        # END SOLUTION


def unseen(x):
    """Nobody knows."""
    # BEGIN SOLUTION
    return x
    # END SOLUTION


# BEGIN HIDDEN
def secret_cases(seed, N):
    return (torch.randn(N, generator=torch.Generator().manual_seed(seed)),)


def large_cases(seed):
    return (torch.ones(5),)
# END HIDDEN
'''

SCENARIO = """\
from grader.scenario_process import actor


def count(n):
    counter = actor.keep("Counter")
    actor.method(counter, "add", n)
    return actor.method(counter, "add", n)


# BEGIN HIDDEN
def count_hidden(n):
    return actor.method(actor.keep("Counter"), "add", n)
# END HIDDEN
"""

FILLED = {
    "double": '    raise NotImplementedError("double is not written yet")',
    "mean_of": '    raise NotImplementedError("mean_of is not written yet")',
}


def author(root: Path) -> Materials:
    """Write the assignment below ``root``."""
    folder, reference = root / "assignments/toy", root / "reference/toy"
    folder.mkdir(parents=True)
    reference.mkdir(parents=True)
    (folder / "assignment.yml").write_text(SPEC)
    (folder / "scenario.py").write_text(SCENARIO)
    (folder / "helper.py").write_text("SIZE = 3\n")
    (reference / "toy.py").write_text(REFERENCE)
    return load_materials(folder / "assignment.yml")


class Lent(OpenedSandbox):
    """The walls of most tests of a process: one fork-server, which closing leaves open."""

    def __init__(self) -> None:
        self._inner = open_sandbox("auto")
        atexit.register(self._inner.close)

    @property
    def isolation(self) -> Isolation:
        return self._inner.isolation

    def start(self, spec: ProcessSpec) -> SandboxedProcess:
        return self._inner.start(spec)

    def grants(self, spec: ProcessSpec) -> bool:
        return self._inner.grants(spec)

    def close(self) -> None:
        pass

    def hand_on(self) -> SandboxSource:
        return LentSource(self)


class LentSource(SandboxSource):
    """Lends the same again."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def open(self) -> Sandbox:
        return self._sandbox

    def close(self) -> None:
        pass


@cache
def lent() -> OpenedSandbox:
    """Return them, put up once."""
    return Lent()


def lent_where_clocks_are_read() -> Sandbox:
    """Return them; skip the test where a process's clock cannot be read."""
    if not readable():
        pytest.skip("this system does not let a process's clock be read")
    return lent()


@cache
def made() -> tuple[Path, Materials, MadeCases]:
    """Return the starter's folder, made once; not to be written to."""
    root = Path(mkdtemp(prefix="toy-"))
    materials = author(root)
    public = make_public(materials, lent())
    files = build_starter(materials.assignment, materials.folder, materials.reference_folder)
    write_starter(files | to_files(public.public), materials.starter)
    return materials.starter, materials, public


def starter(target: Path) -> Path:
    """Return a copy of the starter's folder."""
    shutil.copytree(made()[0], target)
    return target


def notebook(path: Path, *cells: str) -> None:
    """Write a notebook of these code cells."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    nbformat.write(made, path)


def fill(folder: Path, name: str, body: str) -> None:
    """Write the body of a function."""
    path = folder / "toy.py"
    text = path.read_text()
    assert FILLED[name] in text
    path.write_text(text.replace(FILLED[name], body))
