"""Random programs: on a virtual device they come to what they come to on the host."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.vgpu import Machine, plain, virtual_gpus
from grader.vgpu.core.trace import Allocation, Release

Step = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

# Each takes two tensors of two dimensions and gives one; views and in-place operations among them.
STEPS: dict[str, Step] = {
    "add": lambda a, b: a + b[:1, :1],
    "multiply in place": lambda a, b: a.clone().mul_(b.flatten()[0]),
    "transpose": lambda a, _: a.t(),
    "slice": lambda a, _: a[:, ::2] if a.shape[1] > 1 else a,
    "first row": lambda a, _: a[:1],
    "product": lambda a, _: a @ a.t(),
    "softmax": lambda a, _: a.softmax(1),
    "cat": lambda a, _: torch.cat([a, a.flip(0)], 1)[:, :5],
    "mean": lambda a, b: a.mean(0, keepdim=True) - b.max(),
    "where": lambda a, _: torch.where(a > 0, a, 0.5),
    "mask": lambda a, _: a.masked_fill(a < 0, 1.0),
    "index": lambda a, _: a[[0, -1]],
    "write a row": lambda a, b: a.clone().index_fill_(0, torch.tensor([0], device=a.device), 2.0),
    "double": lambda a, _: a.double().float(),
    "whole numbers": lambda a, _: a.round().long().float(),
    "pad": lambda a, _: torch.nn.functional.pad(a, (1, 0))[:, :6],
    "tanh": lambda a, _: a.tanh(),
    "view": lambda a, _: a.reshape(1, -1)[:, :6],
}
# On a device alone: from it and back, or to the other one.
MOVES: dict[str, Callable[[torch.Tensor, str], torch.Tensor]] = {
    "there and back": lambda a, device: a.cpu().to(device),
    "next door": lambda a, device: a.to("cuda:1").to(device),
    "stay": lambda a, device: a.to(device),
}


@dataclass(frozen=True)
class Sketch:
    """A program: a seed for its data, its steps, and after each a move."""

    seed: int
    shape: tuple[int, int]
    steps: tuple[tuple[str, str], ...]

    def run(self, device: str, gradient: bool) -> list[torch.Tensor]:
        drawn = torch.randn(2, *self.shape, generator=torch.Generator().manual_seed(self.seed))
        first, second = drawn[0].clone(), drawn[1].clone()
        leaf = first.to(device) if device != "cpu" else first
        leaf = leaf.detach().requires_grad_(gradient)
        other = second.to(device)
        value, seen = leaf, []
        for step, move in self.steps:
            value = STEPS[step](value, other)
            # A move is a copy, and may lay the elements out anew: products round by the layout.
            if device != "cpu":
                value = MOVES[move](value, device)
            elif move != "stay":
                value = value.clone()
            seen.append(value)
        if gradient and value.requires_grad:
            (value * value).sum().backward()
            seen.append(leaf.grad if leaf.grad is not None else torch.zeros(0, device=device))
        return seen


sketches = st.builds(
    Sketch,
    st.integers(0, 2**16),
    st.tuples(st.integers(1, 4), st.integers(1, 4)),
    st.lists(
        st.tuples(st.sampled_from(sorted(STEPS)), st.sampled_from(sorted(MOVES))),
        min_size=1, max_size=6,
    ).map(tuple),
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def only_what_is_new_is_collected() -> Iterator[None]:
    """Torch's own objects are many: looking through them each time takes most of the time."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def never_negative(machine: Machine) -> None:
    live = dict.fromkeys(machine.names, 0)
    for event in machine.trace.events:
        if isinstance(event, Allocation):
            live[event.device] += event.bytes
        elif isinstance(event, Release):
            live[event.device] -= event.bytes
        assert min(live.values()) >= 0
    assert live == {f"cuda:{n}": machine.memory(n).live for n in range(machine.count)}
    assert all(machine.memory(n).peak >= machine.memory(n).live for n in range(machine.count))


@settings(max_examples=25)
@given(sketches, st.booleans())
def test_programs_come_to_the_same_and_give_all_memory_back(sketch: Sketch, grad: bool) -> None:
    expected = sketch.run("cpu", grad)
    with virtual_gpus(2) as machine:
        found = sketch.run("cuda:0", grad)
        assert {str(tensor.device) for tensor in found} == {"cuda:0"}
        for one, other in zip(found, expected, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            assert one.requires_grad == other.requires_grad
            # The same kernels on the same elements: to the bit.
            assert torch.equal(plain(one), other.detach())
        never_negative(machine)
        del found, one
        gc.collect()
        never_negative(machine)
        assert [machine.memory(n).live for n in (0, 1)] == [0, 0]


@settings(max_examples=25)
@given(sketches, st.integers(512, 4096))
def test_a_full_device_leaves_the_books_in_order(sketch: Sketch, limit: int) -> None:
    with virtual_gpus(2, memory=limit) as machine:
        try:
            sketch.run("cuda:0", gradient=True)
        except torch.OutOfMemoryError:
            full = True
        else:
            full = False
        never_negative(machine)
        assert all(machine.memory(n).peak <= limit for n in (0, 1))
        if full:
            gc.collect()
        assert [machine.memory(n).live for n in (0, 1)] == [0, 0]
