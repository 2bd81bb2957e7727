"""What a training loop does, noted while it runs: for scenarios, in any assignment.

All of it is said by the process that runs the hand-in: claims. Return what the loop trained beside
them, so that the host can compare that on fresh inputs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch


class Rows:
    """Tells rows of a data set apart by their content; they must differ, and keep their dtype."""

    def __init__(self, data: torch.Tensor) -> None:
        self._places = {row.tobytes(): place for place, row in enumerate(data.numpy())}

    def of(self, batch: torch.Tensor) -> list[int]:
        """Return where in the data set each row of a batch stands; -1: nowhere."""
        return [self._places.get(row.tobytes(), -1) for row in batch.detach().cpu().numpy()]


def epochs(loader: Iterable[Any], x: torch.Tensor, y: torch.Tensor, times: int) -> dict[str, Any]:
    """Go through a loader of pairs several times and say what it gave.

    Returns:
        ``sizes`` of the first epoch's batches; whether ``every_row`` came just once in each epoch,
        and ``paired`` with its label; the number of different ``orders``.
    """
    rows, seen = Rows(x), [list(loader) for _ in range(times)]
    orders = [[row for batch, _ in epoch for row in rows.of(batch)] for epoch in seen]
    labels = [torch.cat([label for _, label in epoch]).cpu() for epoch in seen]
    every_row = all(sorted(order) == list(range(len(x))) for order in orders)
    pairs = zip(orders, labels, strict=True)
    return {
        "sizes": [len(batch) for batch, _ in seen[0]],
        "every_row": every_row,
        "paired": every_row and all(torch.equal(label, y[order]) for order, label in pairs),
        "orders": len({tuple(order) for order in orders}),
    }


@dataclass
class Notes:
    """What was noted, at each pass forward or step; ``rows`` of passes that record gradients."""

    sizes: list[int] = field(default_factory=list)
    modes: list[str] = field(default_factory=list)
    recorded: list[bool] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    fresh: list[bool] = field(default_factory=list)
    gradients: dict[int, list[torch.Tensor | None]] = field(default_factory=dict)
    steps: int = 0

    def __deepcopy__(self, _: Any) -> Notes:
        return self  # a net that is copied goes on noting in the same place


class Watched(torch.nn.Module):
    """A net that notes how it is used; its first input is a batch. ``rows`` tells which rows."""

    def __init__(self, net: torch.nn.Module, rows: Rows | None = None) -> None:
        super().__init__()
        self.net, self.notes, self._rows = net, Notes(), rows
        self.train(net.training)

    def forward(self, batch: torch.Tensor, *others: Any) -> Any:
        """Note a pass, and make it."""
        self.notes.sizes.append(len(batch))
        self.notes.modes.append("train" if self.net.training else "eval")
        self.notes.recorded.append(torch.is_grad_enabled())
        if self._rows and torch.is_grad_enabled():
            self.notes.rows += self._rows.of(batch)
        return self.net(batch, *others)

    def watch(self, optimizer: torch.optim.Optimizer, loss: Any, keep: Collection[int] = ()) -> Any:
        """Note the optimiser's steps; return a loss to be used in the place of ``loss``.

        That loss works out its batch's gradients by itself. A step is *fresh* if it found just
        these, with none left from an earlier batch. Not for steps that are given a closure.

        Args:
            optimizer: Of the net's weights.
            loss: Of an output and a target.
            keep: Steps, counted from 0, of which the gradients themselves are noted too: in the
                order of the optimiser's weights, None where a weight has none.
        """
        weights = [w for g in optimizer.param_groups for w in g["params"] if w.requires_grad]
        last: list[Any] = []

        def noted(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
            value: torch.Tensor = loss(output, target)
            if value.requires_grad:
                last[:] = torch.autograd.grad(value, weights, retain_graph=True, allow_unused=True)
            return value

        def step(*_: Any) -> None:
            found = [weight.grad for weight in weights]
            if self.notes.steps in keep:
                copies = [None if one is None else one.detach().clone() for one in found]
                self.notes.gradients[self.notes.steps] = copies
            self.notes.steps += 1
            pairs = zip(found, last, strict=False)
            self.notes.fresh.append(bool(last) and all(_same(*pair) for pair in pairs))

        optimizer.register_step_pre_hook(step)
        return noted


def _same(one: torch.Tensor | None, other: torch.Tensor | None) -> bool:
    return one is other or (one is not None and other is not None and torch.allclose(one, other))
