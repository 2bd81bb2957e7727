"""How devices are named (``"cuda"``, ``"cuda:1"``, ``1``, ``torch.device(1)``), and generators.

Each device has a generator, apart from the host's. They are torch's CPU generators: the same seed
gives the same numbers on every run, though not those of a real GPU (Philox), which no CPU generator
gives.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch

from grader.vgpu.core.machine import HOST, Machine, machine
from grader.vgpu.core.tensor import VirtualTensor
from grader.vgpu.patches import Patches

# Torch's own, before anything is patched.
_Device = torch.device


def ordinal_from(device: Any) -> int | None:
    """Return the ordinal that ``device`` means; None for no device, the host's or a foreign one.

    Raises:
        RuntimeError: Not a device at all, or one that the machine does not have (torch's words).
    """
    if device is None:
        return None
    if isinstance(device, int) and not isinstance(device, bool):
        return machine().check(device)
    named = device if isinstance(device, _Device) else _Device(device)
    if named.type != "cuda":
        return None
    return current() if named.index is None else machine().check(named.index)


def ordinal_or_current(device: Any) -> int:
    """Return the ordinal that ``device`` means, by default the current one.

    Raises:
        ValueError: It is no CUDA device.
        RuntimeError: The machine does not have it.
    """
    if device is None:
        return current()
    ordinal = ordinal_from(device)
    if ordinal is None:
        raise ValueError(f"Expected a cuda device, but got: {device}")
    return ordinal


def default_type() -> str:
    """Return the type of device on which torch makes tensors: of ``set_default_device``."""
    try:
        return torch.get_default_device().type
    except AttributeError:
        # torch 2.4 fails like this once set_default_device(None) took a default back.
        return HOST


def current() -> int:
    """Return the thread's current device."""
    return machine().local.device


class _Devices(type):
    """Makes ``isinstance(x, torch.device)`` true of torch's own devices."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _Device)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        # An ordinal alone means the machine's accelerator; C++ sees none on a CPU build.
        first = args[0] if args else kwargs.get("index", kwargs.get("device"))
        if isinstance(first, int) and len(args) + len(kwargs) == 1:
            return _Device("cuda", first)
        return _Device(*args, **kwargs)


class device(metaclass=_Devices):  # noqa: N801
    """Stands for ``torch.device``."""

    __module__ = "torch"


def patch_device(patches: Patches) -> None:
    """Let ``torch.device(0)`` be a CUDA device."""
    patches.set(torch, "device", device)


# Before anything is patched: the class that C++ knows.
PlainGenerator = torch.Generator


class VirtualGenerator(PlainGenerator):
    """``torch.Generator('cuda:N')``."""

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
        return _generator_on(ordinal)


# By the address of what C++ holds: an operation gets a Python object of its own for it.
_made: weakref.WeakValueDictionary[int, VirtualGenerator] = weakref.WeakValueDictionary()


def _generator_on(ordinal: int) -> VirtualGenerator:
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


def patch_generators(patches: Patches) -> None:
    """Let ``torch.Generator('cuda')`` be one, and give each device its own."""
    here = machine()
    here.generators = [_generator_on(ordinal) for ordinal in range(here.count)]
    patches.set(torch, "Generator", Generator)
    for name in ("uniform_", "normal_", "random_", "bernoulli_", "exponential_"):
        patches.wrap(torch.Tensor, name, _drawing)
    for name in ("bernoulli", "multinomial"):
        patches.wrap(torch, name, _drawing)


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


RANDOM_FUNCTIONS: dict[str, Any] = {
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
