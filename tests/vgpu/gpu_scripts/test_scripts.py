"""Whole scripts on virtual GPUs: they work with the CPU's numbers, or are refused by name."""

from __future__ import annotations

import sys

import pytest
import torch.distributed

from gpu_scripts.processes import run_together
from gpu_scripts.runner import differences, numbers, run, scripts
from grader.vgpu.__main__ import Meeting

_LIGHT = {"autocast_lists", "export"}
_HEAVY = {
    "amp_grad_scaler", "collectives", "cuda_graph", "data_parallel", "ddp_torchrun", "fsdp2",
    "loader_pinned", "memory_reports", "model_parallel", "nccl_refuses_one_gpu_twice",
    "streams_and_events", "tensor_parallel", "transformer",
}  # fmt: skip
"""One of each sort; the others take minutes."""


def _marks(name: str) -> list[pytest.MarkDecorator]:
    if name in _LIGHT:
        return []
    return [pytest.mark.heavy if name in _HEAVY else pytest.mark.release]


_ALL = [pytest.param(each, id=each.path.stem, marks=_marks(each.path.stem)) for each in scripts()]


@pytest.mark.parametrize("script", _ALL)
def test_a_script_does_what_its_docstring_says(script) -> None:
    ended = run(script)
    wanted = "refused" if "refused" in script.said else "works"
    assert ended.outcome == wanted, f"{ended.why}\n{ended.told}"


def test_there_are_thirty() -> None:
    assert len(_ALL) >= 30
    assert {each.path.stem for each in scripts()} >= _LIGHT | _HEAVY


def test_other_numbers_are_seen() -> None:
    printed = "loss 1.5 2\n2 GPUs\nrank 1 3.0\nrank 0 4.0\nWarning: 7\n"
    found = numbers(printed)
    assert found == [("loss", [1.5, 2.0]), ("rank", [0.0, 4.0]), ("rank", [1.0, 3.0])]
    assert differences(found, found, 1e-5) == ""
    assert differences(found, numbers(printed.replace("1.5", "1.6")), 1e-5).startswith("loss: 1.5")
    assert differences(found, numbers(printed.replace("1.5", "1.6")), 0.1) == ""
    assert "3 lines" in differences(found, found[:2], 1e-5)
    assert differences([], [], 1e-5) == "printed no numbers on the CPU"


def test_what_waits_for_ever_is_ended_with_all_that_it_started() -> None:
    waits = "import os, time; os.fork(); time.sleep(9999)"
    ran, other = run_together([sys.executable, "-c", waits], [{}, {"A": "b"}], wall=1.0)
    assert (ran.status, other.status) == (-9, -9)
    assert "did not end by itself" in ran.err


def test_ranks_meet_where_no_other_program_can_come_between() -> None:
    first, second = Meeting(), Meeting()
    told = first.environment(2)
    assert told["MASTER_PORT"] != second.environment(2)["MASTER_PORT"]
    there = torch.distributed.TCPStore("127.0.0.1", int(told["MASTER_PORT"]), is_master=False)
    there.set("met", "yes")
    assert there.get("met") == b"yes"
