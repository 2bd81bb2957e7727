"""Virtual GPUs in a notebook."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from grader import vgpu
from grader.vgpu.core.machine import installed
from grader.vgpu.timeline import report as pictures


class Shell:
    """Stands for IPython's: keeps the magics, and runs a cell as plain Python."""

    def __init__(self) -> None:
        self.magics: dict[str, Callable[..., None]] = {}
        self.user_module = ModuleType("__main__")
        self.names: dict[str, Any] = vars(self.user_module)

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


def test_gpus_that_a_notebook_made_itself_stay_if_they_are_what_is_asked_for(shell: Shell) -> None:
    made = vgpu.install(2)
    shell.magics["vgpu"]("2", CELL)
    assert installed() is made
    shell.magics["vgpu"]("2 1GiB")
    assert installed() is not made


TIMED = (
    CELL
    + """
from time import perf_counter
torch.cuda.synchronize()
late = perf_counter()
"""
)


def test_with_a_card_a_cell_has_its_time_and_a_picture(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = shell.magics["vgpu"]("2 --card v100", TIMED)
    said = capsys.readouterr().out
    assert "in the time of NVIDIA V100 SXM2 by published figures: " in said
    assert re.search(r"cuda:0 .* µs +\d+ % ", said)
    assert re.search(r"cuda:1 +0 µs +0 % +– +– +no work came", said)
    assert shown is not None
    assert 'alt="On NVIDIA V100 SXM2" src="data:image/svg+xml;base64,' in shown._repr_html_()
    assert repr(shown) == "<picture: On NVIDIA V100 SXM2>"
    # Some microseconds; and a clock that the cell has taken hold of is the machine's again.
    assert 0 < shell.names["late"] < 1e-3
    assert shell.names["perf_counter"] is time.perf_counter
    machine = installed()
    assert machine is not None
    assert machine.clock is None


def test_without_arithmetic_a_cell_has_no_numbers(shell: Shell) -> None:
    cell = CELL + "\nloss = y.sum().item()"
    assert shell.magics["vgpu"]("1 --card t4 --no-arithmetic", cell) is not None
    assert math.isnan(shell.names["loss"])
    with pytest.raises(NotImplementedError, match="add of a tensor that was made without arith"):
        shell.names["y"] + 1


def test_all_since_they_were_made_in_a_cards_time(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.magics["vgpu"]("1", CELL)
    shown = shell.magics["vgpu_trace"]("--card h100")
    said = capsys.readouterr().out
    assert "cuda:0    mm  16 FLOP" in said
    assert "in the time of NVIDIA H100 SXM" in said
    assert "On NVIDIA H100 SXM" in repr(shown)
    assert shell.magics["vgpu_trace"]("2") is None
    assert shell.magics["vgpu_trace"]("--card h1000") is None
    assert "there are a100, h100, k80, rtx3070-laptop" in capsys.readouterr().err


def test_no_picture_without_work_or_without_matplotlib(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.magics["vgpu"]("1 --card t4", "pass") is None
    assert "did nothing" in capsys.readouterr().out
    monkeypatch.setattr(pictures, "find_spec", lambda _: None)
    assert shell.magics["vgpu"]("1 --card t4", CELL) is None
    said = capsys.readouterr()
    assert said.err == "a picture needs matplotlib, which is missing: pip install matplotlib\n"
    assert "in the time of NVIDIA T4" in said.out


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            "2 --card v1000",
            "there are a100, h100, k80, rtx3070-laptop, t4, v100; did you mean “v100”?",
        ),
        ("2 --card", "“” is no device profile; there are a100, "),
        ("2 --no-arithmetic", "name a card for them, --card v100"),
        ("2 --crad v100", "in a cell also %%vgpu 2 --card v100"),
    ],
)
def test_a_card_that_is_not_there_runs_nothing(
    shell: Shell, line: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.magics["vgpu"](line, CELL)
    assert text in capsys.readouterr().err
    assert installed() is None
    assert "x" not in shell.names


def test_a_card_is_for_a_cell(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.magics["vgpu"]("2 --card v100")
    assert "--card is for a cell" in capsys.readouterr().err


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
