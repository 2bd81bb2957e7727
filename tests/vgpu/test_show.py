"""What a person reads of a trace."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from grader.vgpu import show, virtual_gpus
from grader.vgpu.magics import parse_count, parse_size


def test_the_overview_has_devices_routes_and_operations() -> None:
    with virtual_gpus(2, memory=2**20) as machine:
        x = torch.ones(16, 32).cuda()
        (x @ x.T).to("cuda:1").cpu()
        text = show.overview(machine)
    lines = [line.split() for line in text.splitlines()]
    assert [
        "cuda:0",
        "1",
        "16.38",
        "kFLOP",
        "3",
        "KiB",
        "of",
        "1",
        "MiB",
        "2",
        "KiB",
        "0×",
    ] in lines
    assert ["cpu", "cuda:0", "1", "2", "KiB", "0"] in lines
    assert ["cuda:0", "cuda:1", "1", "1", "KiB", "0"] in lines
    assert ["mm", "cuda:0", "1", "16.38", "kFLOP", "5", "KiB"] in lines
    assert "! cuda:1 holds tensors and computed nothing." in text
    assert "nothing here says how fast" in text


def test_only_what_came_since_counts() -> None:
    with virtual_gpus(1) as machine:
        torch.ones(4).cuda()
        start = machine.trace.count
        assert "did nothing with cuda:0." in show.overview(machine, start)
        torch.ones(4, device="cuda")
        assert "No tensor went" in show.overview(machine, start)
        start = machine.trace.count
        torch.ones(4).cuda() + 1
        text = show.listing(machine, start)
    assert text.splitlines()[:2] == ["cuda:0    takes 512 B", "cpu → cuda:0  tensor 4, 16 B"]
    assert "cuda:0    add  4 FLOP" in text


def test_many_operations_are_told_as_others() -> None:
    with virtual_gpus(1) as machine:
        x = torch.ones(4).cuda()
        for name in ("sin", "cos", "tan", "exp", "abs", "neg", "sqrt", "floor", "ceil", "round"):
            getattr(x, name)()
        lines = [line.split() for line in show.overview(machine).splitlines()]
    assert ["others", "2", "8", "FLOP", "64", "B"] in lines


def test_a_long_listing_ends_with_how_much_is_left_out() -> None:
    with virtual_gpus(1) as machine:
        x = torch.ones(1).cuda()
        for _ in range(show.MOST_EVENTS):
            x += 1
        lines = show.listing(machine).splitlines()
    assert len(lines) == show.MOST_EVENTS + 1
    assert lines[-1].startswith("… and ")


def test_hints_on_parameters_and_waiting() -> None:
    with virtual_gpus(2) as machine:
        layer = nn.Linear(2, 2).to("cuda:0")
        for _ in range(100):
            layer.weight.to("cuda:1").sum().item()
        text = show.overview(machine)
    assert "Parameters were copied 102 times, 100 of them from one GPU" in text
    assert "The program waited 100 times for cuda:1" in text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (8 << 30, "8 GiB"), (5 << 50, "5120 TiB")],
)
def test_sizes_in_words(number: int, text: str) -> None:
    assert show.size(number) == text


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8GiB", 8 << 30),
        ("8 g", 8 << 30),
        ("1.5GB", 1_500_000_000),
        ("512M", 512 << 20),
        (" 100 ", 100),
        ("1b", 1),
    ],
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "8", "GiB", "8GiBs", "-1G", "0", "0.1b", "1e9"])
def test_what_is_no_size_is_refused(text: str) -> None:
    if text == "8":
        assert parse_size(text) == 8
        return
    with pytest.raises(ValueError, match=r"is no size|less than one byte"):
        parse_size(text)


@pytest.mark.parametrize("text", ["", "0", "65", "two", "-1", "1.5", "²"])
def test_what_is_no_number_of_gpus_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no number of GPUs"):
        parse_count(text)


def test_numbers_of_gpus() -> None:
    assert [parse_count(text) for text in ("1", "64")] == [1, 64]
