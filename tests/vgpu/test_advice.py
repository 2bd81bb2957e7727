"""Advice names the line that makes a GPU wait, how often in a step, and what to write instead."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from grader.vgpu import virtual_gpus
from grader.vgpu.advice import _ADVICE, Place, Places, advice
from grader.vgpu.processes import account_of, read_accounts, write_account
from grader.vgpu.show import summary

MISTAKES = yaml.safe_load(Path(__file__).with_name("mistakes.yaml").read_text(encoding="utf-8"))
LOOP = """
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = torch.randn(8, 4, device="cuda")
host, kept, total = torch.randn(8, 4), [], 0
for step in range(6):
    out = model(data)
    loss = out.pow(2).mean()
    optimizer.zero_grad()
    model(data).pow(2).mean().backward()
    {body}
    optimizer.step()
print(round(loss.item(), 3))
"""
LINE = 14


def said(body: str, folder: Path) -> tuple[Places, list[str]]:
    file = folder / "train.py"
    file.write_text(LOOP.format(body=body))
    linecache.checkcache(str(file))
    with virtual_gpus(1) as machine:
        machine.places = Places()
        with machine.places.counting():
            exec(compile(file.read_text(), str(file), "exec"), {"__name__": "__main__"})
        return machine.places, list(advice(machine.places.counts.items(), machine.places.steps))


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake["title"])
def test_a_mistake_is_named_with_its_line(mistake: dict[str, Any], tmp_path: Path) -> None:
    _, texts = said(mistake["body"], tmp_path)
    if "named" not in mistake:
        pytest.skip("no rule names it yet")
    wanted = _ADVICE[mistake["named"]]
    assert f"train.py, line {LINE}, 1× a step: {wanted}." in texts


def test_thirty_were_written_down_and_most_are_named() -> None:
    assert len(MISTAKES) == 30
    assert sum("named" in mistake for mistake in MISTAKES) >= 24


def test_a_loop_that_waits_for_nothing_is_left_alone(tmp_path: Path) -> None:
    places, texts = said("total += loss.detach()", tmp_path)
    assert (places.steps, texts) == (6, [])


@pytest.mark.parametrize(
    "body",
    [
        "total += loss.item() if step % 3 == 0 else 0",
        "pinned = host.pin_memory().to('cuda', non_blocking=True)",
        "batch = host.cuda()",
        "again = out.detach().cpu().add_(1) if step == 0 else 0; step and torch.zeros(1).cuda",
    ],
)
def test_what_is_seldom_or_right_is_left_alone(body: str, tmp_path: Path) -> None:
    assert said(body, tmp_path)[1] == []


def test_what_torch_waits_for_by_itself_is_left_alone(tmp_path: Path) -> None:
    body = "scaler = torch.amp.GradScaler('cuda'); scaler.scale(loss).backward()"
    places, texts = said(f"{body}; scaler.step(optimizer)", tmp_path)
    assert places.steps == 12
    assert texts == []


def test_a_model_that_is_copied_at_each_call_is_named(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(
        "import torch\n"
        "model = torch.nn.DataParallel(torch.nn.Linear(4, 1).cuda())\n"
        "for _ in range(100):\n    model(torch.ones(4, 4, device='cuda'))\n"
    )
    with virtual_gpus(2) as machine:
        machine.places = Places()
        exec(compile(file.read_text(), str(file), "exec"), {"__name__": "__main__"})
        (text,) = advice(machine.places.counts.items(), 0)
    assert text.startswith("train.py, line 4, 100×: copies all parameters to each GPU again")


def test_without_an_optimizer_only_what_is_done_often_is_named() -> None:
    place = Place("item", "/x/train.py", 7)
    assert list(advice([(place, 99)], 0)) == []
    (text,) = advice([(place, 60), (place, 60)], 0)
    assert text.startswith("train.py, line 7, 120×: reads a number from the GPU")


def test_tensors_of_inference_mode_go_out_and_back() -> None:
    with virtual_gpus(1) as machine, torch.inference_mode():
        machine.places = Places()
        torch.ones(2).cuda().cpu().cuda()
        assert [place.what for place in machine.places.counts] == ["to device", "to host", "back"]


def test_what_was_changed_on_the_host_did_not_go_in_vain() -> None:
    with virtual_gpus(1) as machine:
        machine.places = Places()
        home = torch.ones(2, device="cuda").cpu()
        home.add_(1).cuda()
        assert [place.what for place in machine.places.counts] == ["to host", "to device"]


@pytest.fixture
def accounts(tmp_path: Path) -> Path:
    with virtual_gpus(1) as machine:
        machine.places = Places()
        for _ in range(100):
            torch.ones(1, device="cuda").cpu()
        write_account(tmp_path, account_of(machine))
    return tmp_path


def test_all_processes_are_told_of_and_blocking_copies_are_waits(accounts: Path) -> None:
    found = read_accounts(accounts)
    text = summary(found, ["cuda:0"])
    assert "100×" in text
    assert "! test_advice.py, line " in text
    assert "100×: copies to the CPU and waits" in text
