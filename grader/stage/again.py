"""Have what the actor computed run again here, on inputs that nobody had seen (``grader.vgpu``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from grader.vgpu.replay import replay
from grader.vgpu.timeline.profiles import profile

Card = tuple[str, float]
"""Name of a profile, and what its peak, its bandwidth and its links are multiplied by."""

NAME = "grader.stage.again"
"""Asks a reader for ``replayed``; no function of a scenario has a dot in its name."""


def drawn(values: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return other values of the same shapes, types and sizes, by NumPy's generator."""
    return {name: _like(value) for name, value in values.items()}


def _like(value: torch.Tensor) -> torch.Tensor:
    made = torch.from_numpy(np.random.standard_normal(tuple(value.shape)))
    size = value.std().item() if value.numel() > 1 else 1.0
    return (made * size).to(value.dtype)


def replayed(
    told: Any,
    new: dict[str, torch.Tensor],
    own: dict[str, torch.Tensor],
    gpus: int,
    card: Card | None,
) -> dict[str, Any]:
    """Run a log again; in a process that is for nothing else."""
    timed = None
    if card is not None:
        timed = profile(card[0])
        timed = timed.slowed(card[1], timed.peer * card[1])
    return replay(told if isinstance(told, dict) else {}, new, own, gpus, timed)


replayed.__name__ = NAME
Read = Callable[..., Any]


def repeat(
    read: Read,
    told: Any,
    own: Mapping[str, torch.Tensor],
    said: Mapping[str, Any],
    settings: tuple[int, Card | None],
) -> dict[str, Any]:
    """Return what came of it; ``{"state": "real"}`` where the GPUs were real, and no log is.

    Args:
        read: Calls a function in a process of its own.
        told: The log, as the actor told it.
        own: The values of its leaves.
        said: Outputs that the actor had on these, by name.
        settings: Number of devices, and the card for times.
    """
    if told is None:
        return {"state": "real"}
    # Copies: the case's own arguments go to the actor by reference.
    copies = {name: value.clone() for name, value in own.items()}
    found: dict[str, Any] = read(replayed, told, drawn(own), copies, *settings)
    if found["own"] is not None:
        found["own"] = all(_same(found["own"].get(name), value) for name, value in said.items())
    return found


def _same(value: Any, said: Any) -> bool:
    if not (isinstance(value, torch.Tensor) and isinstance(said, torch.Tensor)):
        return False
    return value.shape == said.shape and torch.allclose(value, said, rtol=1e-3, atol=1e-4)
