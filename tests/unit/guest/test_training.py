"""What is noted of a training loop, and that a loop gone wrong is noted as such."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from grader.guest.training import Rows, Watched, epochs

X = torch.arange(20.0).reshape(10, 2)
Y = torch.arange(10).reshape(10, 1)


def loop(change: Callable[[torch.optim.Optimizer, int], None]) -> Watched:
    """Train for two epochs; ``change`` stands between a backward pass and its step."""
    torch.manual_seed(0)
    net = Watched(torch.nn.Linear(2, 1), Rows(X))
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
    loss_fn = net.watch(optimizer, torch.nn.functional.mse_loss)
    for _ in range(2):
        for number, (x, y) in enumerate(DataLoader(TensorDataset(X, Y.float()), 4)):
            loss_fn(net(x), y).backward()
            optimizer.step()
            change(optimizer, number)
    return net


def always(optimizer: torch.optim.Optimizer, _: int) -> None:
    optimizer.zero_grad()


def test_a_right_loop() -> None:
    notes = loop(always).notes
    assert (notes.steps, notes.fresh) == (6, [True] * 6)
    assert notes.rows == [*range(10)] * 2
    assert notes.sizes == [4, 4, 2] * 2
    assert (set(notes.modes), set(notes.recorded)) == ({"train"}, {True})


def test_gradients_left_from_an_earlier_batch_are_noted_step_by_step() -> None:
    def but_once(optimizer: torch.optim.Optimizer, number: int) -> None:
        if number != 1:
            optimizer.zero_grad()

    assert loop(but_once).notes.fresh == [True, True, False] * 2
    assert loop(lambda *_: None).notes.fresh == [True] + [False] * 5


def test_a_step_without_a_loss_is_not_fresh() -> None:
    net = Watched(torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net.watch(optimizer, torch.nn.functional.mse_loss)
    optimizer.step()
    assert (net.notes.steps, net.notes.fresh) == (1, [False])


class HalfUsed(torch.nn.Module):
    """A net that has weights it never uses, as one with a part left out."""

    def __init__(self) -> None:
        super().__init__()
        self.used, self.idle = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
        self.used.bias.requires_grad_(False)

    def forward(self, x: torch.Tensor) -> Any:
        return self.used(x)


def test_weights_that_take_no_part_stay_fresh() -> None:
    net = Watched(HalfUsed())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net.watch(optimizer, torch.nn.functional.mse_loss)(net(X), Y.float()).backward()
    optimizer.step()
    assert net.notes.fresh == [True]


def test_gradients_of_chosen_steps_are_kept_as_they_were() -> None:
    net = Watched(HalfUsed())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
    loss_fn = net.watch(optimizer, torch.nn.functional.mse_loss, keep=(0, 2))
    for start in (0, 3, 6):
        optimizer.zero_grad()
        loss_fn(net(X[start : start + 3]), Y[start : start + 3].float()).backward()
        optimizer.step()
    kept = net.notes.gradients
    assert list(kept) == [0, 2]
    # The last batch's are still in place; the first batch's have been overwritten since.
    assert kept[2][0] is not net.net.used.weight.grad
    assert torch.equal(kept[2][0], net.net.used.weight.grad)
    assert not torch.equal(kept[0][0], kept[2][0])
    # A weight that is not used has no gradient; one that is frozen is left out.
    assert kept[0][1:] == [None, None]


def test_modes_and_passes_without_gradients() -> None:
    net = Watched(torch.nn.Linear(2, 1).eval(), Rows(X))
    assert not net.training
    with torch.no_grad():
        net(X[:3])
    net.train()(X[3:])
    notes = net.notes
    assert (notes.modes, notes.recorded) == (["eval", "train"], [False, True])
    # Passes without gradients train nothing, so their rows do not count.
    assert notes.rows == [*range(3, 10)]


def test_a_copied_net_notes_in_the_same_place() -> None:
    net = Watched(torch.nn.Linear(2, 1))
    copy.deepcopy(net)(X)
    assert net.notes.sizes == [10]


def test_rows_that_are_not_in_the_data() -> None:
    assert Rows(X).of(torch.cat([X[7:8], X[:1] + 0.5])) == [7, -1]
    assert Rows(X).of(X.t().contiguous().t()[2:4]) == [2, 3]


def loader(**options: Any) -> DataLoader[Any]:
    return DataLoader(TensorDataset(X, Y), 4, **options)


def test_a_loader_in_order_and_one_that_shuffles() -> None:
    assert epochs(loader(), X, Y, 3) == {
        "sizes": [4, 4, 2], "every_row": True, "paired": True, "orders": 1,
    }  # fmt: skip
    torch.manual_seed(0)
    shuffled = epochs(loader(shuffle=True), X, Y, 3)
    assert (shuffled["every_row"], shuffled["paired"], shuffled["orders"]) == (True, True, 3)


def unpaired() -> list[Any]:
    return [(X[:5], Y[5:]), (X[5:], Y[:5])]


@pytest.mark.parametrize(
    ("wrong", "items"),
    [
        (loader(drop_last=True), {"sizes": [4, 4], "every_row": False, "paired": False}),
        ([(X, Y), (X[:1], Y[:1])], {"every_row": False, "paired": False}),
        (unpaired(), {"every_row": True, "paired": False}),
    ],
)
def test_loaders_gone_wrong(wrong: Any, items: dict[str, Any]) -> None:
    assert items.items() <= epochs(wrong, X, Y, 1).items()
