"""Virtual GPUs in a notebook."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from grader import vgpu
from grader.vgpu.machine import installed


class Shell:
    """Stands for IPython's: keeps the magics, and runs a cell as plain Python."""

    def __init__(self) -> None:
        self.magics: dict[str, Callable[..., None]] = {}
        self.names: dict[str, Any] = {}

    def register_magic_function(self, function: Any, kind: str, name: str) -> None:
        self.magics[name] = function
        assert kind == {"vgpu": "line_cell", "vgpu_trace": "line"}[name]

    def run_cell(self, text: str) -> None:
        exec(text, self.names)


@pytest.fixture
def shell() -> Iterator[Shell]:
    made = Shell()
    vgpu.load_ipython_extension(made)
    yield made
    made.magics["vgpu"]("off")
    assert installed() is None


CELL = "import torch\nx = torch.ones(2, 2).cuda(); y = x @ x"


def test_a_cell_runs_on_gpus_that_stay(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.magics["vgpu"]("2", CELL)
    assert "mm" in capsys.readouterr().out
    machine = installed()
    assert machine is not None
    assert machine.count == 2
    shell.magics["vgpu"]("2", "z = (y + x).cpu()")
    said = capsys.readouterr().out
    assert "mm" not in said
    assert "add" in said
    assert installed() is machine
    assert shell.names["z"].tolist() == [[3, 3], [3, 3]]


def test_a_line_makes_them_and_the_trace_is_of_all(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.magics["vgpu"]("1 1GiB  # as on the course's machines")
    machine = installed()
    assert machine is not None
    assert machine.memory(0).limit == 2**30
    shell.magics["vgpu"]("", CELL)
    assert installed() is machine
    capsys.readouterr()
    shell.magics["vgpu_trace"]()
    said = capsys.readouterr().out
    assert "cuda:0    mm  16 FLOP" in said
    assert "Virtual GPUs: " in said


def test_other_gpus_replace_those_that_are_there(shell: Shell) -> None:
    shell.magics["vgpu"]("1")
    first = installed()
    shell.magics["vgpu"]("3")
    assert installed() is not first
    assert installed().count == 3


def test_without_any_that_is_said(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.magics["vgpu"]("2")
    shell.magics["vgpu"]("off")
    shell.magics["vgpu_trace"]()
    assert "There are no virtual GPUs" in capsys.readouterr().out


@pytest.mark.parametrize("line", ["two", "2 much", "1 2 3", "0"])
def test_a_line_that_says_nothing_known_is_told_so_and_runs_nothing(
    shell: Shell, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.magics["vgpu"](line, CELL)
    assert re.search("^%vgpu: .*(%vgpu 2|is no)", capsys.readouterr().err)
    assert installed() is None
    assert "x" not in shell.names


def test_ipython_itself_takes_the_extension(capsys: pytest.CaptureFixture[str]) -> None:
    testing = pytest.importorskip("IPython.core.interactiveshell")
    real = testing.InteractiveShell.instance()
    try:
        real.run_line_magic("load_ext", "grader.vgpu")
        real.run_cell("%%vgpu 1\n" + CELL)
        assert "mm" in capsys.readouterr().out
        real.run_cell("%vgpu_trace")
        assert "takes 512 B" in capsys.readouterr().out
    finally:
        real.run_line_magic("vgpu", "off")
        testing.InteractiveShell.clear_instance()
