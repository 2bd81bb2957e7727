"""A course with one small assignment, and a class that handed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
import toy_starter
from in_process import Here

from grader.batch.discover import Found, discover
from grader.batch.ledger import BatchSettings
from grader.cli import app as cli
from grader.cli import batch as cli_batch
from grader.cli import class_run as cli_class
from grader.cli import regrade as cli_regrade
from grader.grading import Grader, Options
from grader.run.materials import load_materials
from grader.sandbox.host.processes import Sandbox

ASSIGNMENT = """\
schema: torchgrade/assignment/v1
id: tiny
version: "1"
title: Tiny
hand_in: [tiny.py]
questions:
  - id: double
    title: Twice
    points: 4
    cases:
      - id: some
        dims: {N: [3, 9]}
        args: {x: {rand: [N], dtype: float32}}
    checks:
      - {id: values, kind: close, rtol: 1.0e-4, atol: 1.0e-4, points: 3}
      - {id: inputs, kind: unmodified, points: 1}
  - id: negate
    title: Minus
    points: 2
    cases:
      - id: some
        args: {x: {rand: [4], dtype: float32}}
    checks:
      - {id: values, kind: close, rtol: 1.0e-4, atol: 1.0e-4, points: 2}
"""
RIGHT = """\
def double(x):
    return x * 2


def negate(x):
    return -x
"""
HAND_INS = {
    "ann": RIGHT,
    "bob": RIGHT.replace("x * 2", "x * 2.0001"),
    "cem": RIGHT.replace("x * 2", "x.mul_(2)"),
    "dua": RIGHT,
    "eli": "def double(x:\n",
}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    for name, content in (
        ("assignments/tiny/assignment.yml", ASSIGNMENT),
        ("reference/tiny/tiny.py", RIGHT),
        *((f"class/{name}.py", content) for name, content in HAND_INS.items()),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (tmp_path / "class" / "far.txt").write_text("")
    return tmp_path


@pytest.fixture
def found(course: Path) -> Found:
    return discover(course / "class", course / "out")


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with toy_starter.lent() as sandbox:
        yield sandbox


Prepare = Callable[[BatchSettings, Options], AbstractContextManager[Grader]]


@pytest.fixture
def prepare(sandbox: Sandbox) -> Prepare:
    @contextmanager
    def give(setup: BatchSettings, options: Options) -> Iterator[Grader]:
        grader = Grader(load_materials(Path(setup.file)), sandbox, options)
        grader.prepare()
        yield grader

    return give


Command = Callable[..., int]


@pytest.fixture
def command(course: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[Command]:
    """Run ``grader …`` in the course's folder; all in this process, on one sandbox."""

    def run(*words: object) -> int:
        monkeypatch.setattr("sys.argv", ["grader", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code or 0

    for module in (cli_class, cli_regrade):
        monkeypatch.setattr(module, "make_sandbox", lambda *_: sandbox)
    monkeypatch.setattr(cli_batch, "open_early", lambda *_: sandbox)
    monkeypatch.setattr(
        cli_class,
        "LocalWorkers",
        lambda grader, _, out, jobs: Here(grader.with_sandbox(sandbox), out),
    )
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(course)
    yield run
    Here.most = 99
