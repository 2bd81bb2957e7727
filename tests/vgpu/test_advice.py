"""Advice names the line that makes a GPU wait, how often in a step, and what to write instead."""

from __future__ import annotations

import linecache
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from grader.vgpu import virtual_gpus
from grader.vgpu.advice import _ADVICE, Done, Place, Places, advice
from grader.vgpu.processes import account_of, read_accounts, write_account
from grader.vgpu.show import summary


def listed(name: str) -> list[dict[str, Any]]:
    return yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))


MISTAKES, FURTHER = listed("mistakes.yaml"), listed("further_mistakes.yaml")
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
# What stands before each of the further mistakes.
TRAINING = """
import io, logging, time
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
criterion = nn.CrossEntropyLoss()
batches = [(torch.randn(8, 4), torch.randint(3, (8,))) for _ in range(6)]
total, right, scores, average, confusion = 0, 0, [], {}, [[0] * 3 for _ in range(3)]

def update(loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

def step(x, y):
    out = model(x)
    update(criterion(out, y))
    return out

"""


def said(body: str, folder: Path, template: str = LOOP) -> tuple[Places, list[str]]:
    file = folder / "train.py"
    file.write_text(template.format(body=body) if template is LOOP else template + body)
    linecache.checkcache(str(file))
    with virtual_gpus(1) as machine:
        machine.places = Places()
        with machine.places.counting():
            exec(compile(file.read_text(), str(file), "exec"), {"__name__": "__main__"})
        return machine.places, list(advice([(machine.places.done, machine.places.steps)]))


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake["title"])
def test_a_mistake_is_named_with_its_line(mistake: dict[str, Any], tmp_path: Path) -> None:
    _, texts = said(mistake["body"], tmp_path)
    often = mistake.get("often", "1×")
    assert f"train.py, line {LINE}, {often} a step: {_ADVICE[mistake['named']]}." in texts


def test_thirty_were_written_down_and_thirty_more() -> None:
    assert len({mistake["body"] for mistake in MISTAKES}) == 30
    assert len({mistake["code"] for mistake in FURTHER}) == 30
    assert sum("named" in mistake for mistake in FURTHER) == 27


@pytest.mark.parametrize("mistake", FURTHER, ids=lambda mistake: mistake["title"])
def test_a_further_mistake_is_named_with_its_line(mistake: dict[str, Any], tmp_path: Path) -> None:
    _, texts = said(mistake["code"], tmp_path, TRAINING)
    lines = (TRAINING + mistake["code"]).splitlines()
    marked = next(number for number, line in enumerate(lines, 1) if line.endswith("#!"))
    at_line = [text for text in texts if f"line {marked}," in text]
    if "unnamed" in mistake:
        assert at_line == []
    else:
        assert _ADVICE[mistake["named"]] in at_line[0]


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


@pytest.mark.parametrize(
    "body",
    [
        # The sum goes back through its graph in each step.
        "total = loss + 1; total = total + loss",
        "model.eval(); model(data).sum().backward(); model.train()",
        "model.eval()\n    with torch.no_grad(): model(data)\n    model.train()",
        "model.eval(); model(data) if step == 0 else 0; model.train()",
        "for _ in range(3): total += loss.detach()",
        "x = host.view(4, 8).float().cuda()",
        "parts = {key: host.cuda() for key in 'abcdefg'}",
        "step == 3 and torch.save(model.state_dict(), '/dev/null')",
        "torch.save(host, '/dev/null')",
        "x = torch.from_numpy(host.numpy()).cuda()",
    ],
)
def test_what_only_looks_like_a_mistake_is_left_alone(body: str, tmp_path: Path) -> None:
    assert said(body, tmp_path)[1] == []


def test_what_is_computed_before_it_is_copied_is_found_above(tmp_path: Path) -> None:
    body = "x = host.flip(0) * 2\n    y = x.float()\n    x = x.cuda()"
    (text,) = said(body, tmp_path)[1]
    assert text.startswith(f"train.py, line {LINE + 2}, 1× a step: computes on the CPU")


HALVES = """
import torch
from torch import nn
first, second = nn.Linear(2048, 2048).to("cuda:0"), nn.Linear(2048, 2048).to("cuda:1")
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
for _ in range(4):
    rows = torch.randn(2048, 2048, device="cuda:0")
    loss = second(first(rows).to("cuda:1")).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    loss.item()
"""


def test_a_cost_is_what_the_timeline_takes_longer(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "halves.py"
    file.write_text(HALVES)
    command = [sys.executable, "-m", "grader.vgpu", "--gpus", "2", "--timeline", "v100"]
    command += ["--no-arithmetic", str(file)]
    subprocess.run(command, check=True, timeout=120)
    told = capfd.readouterr().err
    assert "cuda:0 and cuda:1 never work at the same time" in told
    # The second one waits for the first anyway, whose backward pass is the last of a step.
    assert "line 12, 1× a step (0 µs of" in told
    file.write_text(HALVES.replace("cuda:1", "cuda:0"))
    subprocess.run(command, check=True, timeout=120)
    told = capfd.readouterr().err
    # Three times the GPU has nothing to do for as long as one launch takes, 3.8 µs.
    assert "line 12, 1× a step (11.4 µs of 26.85 ms): reads" in told
    assert "never work at the same time" not in told


def test_a_checkpoint_that_copies_each_parameter_is_left_alone(tmp_path: Path) -> None:
    body = "home = [each.detach().cpu() for each in [out] * 30] if step == 3 else []"
    assert said(body, tmp_path)[1] == []


def test_a_model_that_each_of_many_processes_makes_is_left_alone() -> None:
    place = Place("made", "/x/train.py", 7)
    assert list(advice([([Done(place, 1, 1)], 1)] * 8)) == []


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
        (text,) = advice([(machine.places.done, 0)])
    assert text.startswith("train.py, line 4, 100×: copies all parameters to each GPU again")


def test_without_an_optimizer_only_what_is_done_often_is_named() -> None:
    place = Place("item", "/x/train.py", 7)
    assert list(advice([([Done(place, 99, 1)], 0)])) == []
    (text,) = advice([([Done(place, 120, 1)], 0), ([Done(place, 60, 1)], 0)])
    assert text.startswith("train.py, line 7, 180×: reads a number from the GPU")


def test_without_an_optimizer_copies_are_no_pieces_of_a_batch(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("import torch\nfor each in torch.ones(900, 2):\n    each.cuda()\n")
    with virtual_gpus(1) as machine:
        machine.places = Places()
        exec(compile(file.read_text(), str(file), "exec"), {"__name__": "__main__"})
        assert machine.places.counts.total() == 900
        assert list(advice([(machine.places.done, 0)])) == []


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
