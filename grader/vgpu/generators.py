"""Random numbers on virtual devices: a generator for each, apart from the host's.

They are torch's CPU generators: the same seed gives the same numbers on every run, though not those
of a real GPU (Philox), which no CPU generator gives.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch

from grader.vgpu.machine import Machine, machine
from grader.vgpu.patches import Patches
from grader.vgpu.spec import ordinal_from
from grader.vgpu.tensor import VirtualTensor

# Before anything is patched: the class that C++ knows.
PlainGenerator = torch.Generator


class VirtualGenerator(PlainGenerator):
    """``torch.Generator('cuda:N')``.

    Attributes:
        ordinal: N.
    """

    ordinal: int

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """``cuda:N``."""
        return torch.device("cuda", self.ordinal)


class _Kinds(type):
    """Makes ``isinstance(x, torch.Generator)`` true of every generator."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, PlainGenerator)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, PlainGenerator)


class Generator(metaclass=_Kinds):
    """Stands for ``torch.Generator``."""

    def __new__(cls, device: Any = "cpu") -> Any:  # noqa: D102
        ordinal = ordinal_from(device)
        if ordinal is None:
            return PlainGenerator(device=device)
        return _on(ordinal)


# By the address of what C++ holds: an operation gets a Python object of its own for it.
_made: weakref.WeakValueDictionary[int, VirtualGenerator] = weakref.WeakValueDictionary()


def _on(ordinal: int) -> VirtualGenerator:
    made = VirtualGenerator()
    made.ordinal = ordinal
    _made[_address(made)] = made
    return made


def _address(generator: Any) -> int:
    return int(generator._cdata)


def _virtual(given: torch.Generator) -> VirtualGenerator | None:
    return given if isinstance(given, VirtualGenerator) else _made.get(_address(given))


def generator_for(here: Machine, given: Any, ordinal: int) -> torch.Generator:
    """Return the generator that an operation on a device draws from.

    Raises:
        RuntimeError: One for the host, or for another device, was given (torch's words).
    """
    if given is None:
        return here.generators[ordinal]
    found = _virtual(given)
    if found is None:
        raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")
    if found.ordinal != ordinal:
        raise RuntimeError(
            f"Expected a 'cuda:{ordinal}' generator device but found 'cuda:{found.ordinal}'"
        )
    return found


def refuse_on_host(given: Any) -> None:
    """Raise as torch does when a generator for a device shall draw on the host."""
    if given is not None and _virtual(given) is not None:
        raise RuntimeError("Expected a 'cpu' device type for generator but found 'cuda'")


def _drawing(original: Any) -> Any:
    def draw(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(self, VirtualTensor):
            refuse_on_host(kwargs.get("generator"))
        return original(self, *args, **kwargs)

    return draw


def patch(patches: Patches) -> None:
    """Let ``torch.Generator('cuda')`` be one, and give each device its own."""
    here = machine()
    here.generators = [_on(ordinal) for ordinal in range(here.count)]
    patches.set(torch, "Generator", Generator)
    for name in ("uniform_", "normal_", "random_", "bernoulli_", "exponential_"):
        patches.wrap(torch.Tensor, name, _drawing)
    for name in ("bernoulli", "multinomial"):
        patches.wrap(torch, name, _drawing)
