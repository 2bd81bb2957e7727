"""Drives the submission from the stage, where a call on values is not enough."""

from __future__ import annotations

import torch

from grader.stage import actor, callback


def sample(x, y, batch_size, times):
    """Draw some batches; look up where their rows stand in the data."""
    places, right = [], True
    for _ in range(times):
        rows, labels = actor.call("sample_batch", x, y, batch_size)
        same = (rows[:, None] == x).all(dim=2)
        right &= rows.shape == (batch_size, x.shape[1]) and bool(same.any(dim=1).all())
        place = same.int().argmax(dim=1)
        right &= labels.shape == (batch_size,) and bool((labels == y[place]).all())
        places.append(place)
    drawn = torch.stack(places) if right else torch.zeros(times, 1)
    return {
        "rows": right,
        # Of 12 rows, 200 draws leave one out in one of three million runs.
        "every_row": right and len(drawn.unique()) == len(x),
        "anew": right and _irregular(drawn, len(x)),
    }


def _irregular(drawn, rows):
    """Tell whether no batch is another's copy, and no step from row to row is that of most."""
    steps = (drawn.diff(dim=1) % rows).flatten()
    return len(drawn.unique(dim=0)) == len(drawn) and 2 * int(steps.bincount().max()) < len(steps)


def train(w, x, y, *options):
    """Train with a loss and batches that come from here; without options, by default."""
    asked = []

    def batch(rows, labels, size):
        asked.append((rows.shape == x.shape, size))
        drawn = torch.randint(len(rows), (size,))
        return rows[drawn], labels[drawn]

    def loss(weights, rows, labels, reg):
        error = rows @ weights - labels[:, None].to(rows.dtype)
        grad = 2 * rows.T @ error / error.numel() + 2 * reg * weights
        return error.square().mean() + reg * weights.square().sum(), grad

    actor.set_attr(actor.module, "sample_batch", callback(batch, most=300))
    trained, losses = actor.call(
        "train_linear_classifier", callback(loss, most=300), w, x, y, *options
    )
    return {"weights": trained, "losses": losses, "batches": asked}


def accuracy(x_train, y_train, x, y, classes):
    """Let it choose by half of the other rows; try what comes on the rest."""
    half = len(x) // 2
    w = actor.call("find_classifier", x_train, y_train, x[:half], y[:half], classes)
    if not isinstance(w, torch.Tensor) or w.shape != (x.shape[1], classes):
        return {"accuracy": 0.0}
    right = (x[half:] @ w.float()).argmax(dim=1) == y[half:]
    return {"accuracy": round(right.float().mean().item(), 4)}
