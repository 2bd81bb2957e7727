"""``torch.cuda``'s seeds and random states."""

from __future__ import annotations

from typing import Any

import torch

from grader.vgpu.machine import machine
from grader.vgpu.spec import current, ordinal_or_current


def manual_seed(seed: int) -> None:
    """Seed the current device's generator."""
    machine().generators[current()].manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seed every device's generator."""
    for generator in machine().generators:
        generator.manual_seed(int(seed))


def seed() -> None:
    """Seed the current device's generator at random."""
    machine().generators[current()].seed()


def seed_all() -> None:
    """Seed every device's generator with one random number."""
    manual_seed_all(machine().generators[0].seed())


def initial_seed() -> int:
    """Return the current device's seed."""
    return int(machine().generators[current()].initial_seed())


def get_rng_state(device: Any = "cuda") -> torch.Tensor:
    """Return a device's generator's state, on the host."""
    return machine().generators[ordinal_or_current(device)].get_state()


def set_rng_state(new_state: torch.Tensor, device: Any = "cuda") -> None:
    """Set a device's generator's state."""
    machine().generators[ordinal_or_current(device)].set_state(new_state)


FUNCTIONS: dict[str, Any] = {
    "manual_seed": manual_seed,
    "manual_seed_all": manual_seed_all,
    "seed": seed,
    "seed_all": seed_all,
    "initial_seed": initial_seed,
    "get_rng_state": get_rng_state,
    "set_rng_state": set_rng_state,
    "get_rng_state_all": lambda: [g.get_state() for g in machine().generators],
    "set_rng_state_all": lambda states: [
        g.set_state(state) for g, state in zip(machine().generators, states, strict=True)
    ],
}
