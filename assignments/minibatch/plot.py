"""Draws ``updates.svg`` for the handout: ``python assignments/minibatch/plot.py`` (two minutes).

The lecture's net on the digits of ``digits.py``, three times from the same weights: with all rows
in each update, with batches of 2048, and with batches of 1024.
"""

from __future__ import annotations

from pathlib import Path

import digits
import matplotlib as mpl
import torch
from matplotlib import pyplot as plt
from torch.utils.data import DataLoader, TensorDataset

RUNS = {"all rows": (12396, 200), "2048 rows": (2048, 33), "1024 rows": (1024, 18)}
"""What an update is made from → batch size, epochs."""

Curve = list[tuple[int, int, float]]
"""Updates so far, rows that went through the net so far, loss over all rows."""


def train(x: torch.Tensor, y: torch.Tensor, batch: int, epochs: int) -> tuple[Curve, float]:
    """Train the lecture's net; return its curve and the share of rows that it gets right."""
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(784, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1))
    optimizer = torch.optim.Adam(net.parameters())
    loss_fn = torch.nn.BCEWithLogitsLoss()
    loader = DataLoader(TensorDataset(x, y), batch, shuffle=batch < len(x))
    curve: Curve = []
    updates = rows = 0
    for _ in range(epochs):
        for xx, yy in loader:
            if updates % 6 == 0:
                curve.append((updates, rows, whole_loss(net, x, y)))
            optimizer.zero_grad()
            loss_fn(net(xx), yy).backward()
            optimizer.step()
            updates, rows = updates + 1, rows + len(xx)
    curve.append((updates, rows, whole_loss(net, x, y)))
    with torch.no_grad():
        return curve, ((net(x) > 0) == (y > 0.5)).double().mean().item()


def whole_loss(net: torch.nn.Module, x: torch.Tensor, y: torch.Tensor) -> float:
    """Return the loss over all rows."""
    with torch.no_grad():
        return torch.nn.functional.binary_cross_entropy_with_logits(net(x), y).item()


def main() -> None:
    """Train three times and draw."""
    # The same file from the same numbers: text as text, no date, no random ids.
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "minibatch", "font.size": 9}
    x, y = (torch.from_numpy(part) for part in digits.load())
    figure, (by_updates, by_rows) = plt.subplots(1, 2, figsize=(8, 3), sharey=True)
    for name, (batch, epochs) in RUNS.items():
        curve, right = train(x, y, batch, epochs)
        updates, rows, losses = zip(*curve, strict=True)
        print(f"{name}: {updates[-1]} updates, {rows[-1]} rows, loss {losses[-1]:.3f}, {right:.1%}")  # noqa: T201
        by_updates.plot(updates, losses, label=f"{name}: {updates[-1]} updates, {right:.1%} right")
        by_rows.plot([row / 1e6 for row in rows], losses)
    by_updates.set(xlabel="updates", ylabel="loss over all rows", ylim=(0, None))
    by_rows.set(xlabel="million rows through the net")
    by_updates.legend(frameon=False, fontsize=7)
    for axes in (by_updates, by_rows):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(Path(__file__).with_name("updates.svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
