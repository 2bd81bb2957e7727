"""An operation on device tensors: check the devices, run it, note it, put its results there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from grader.vgpu import words
from grader.vgpu.execute import execute, execute_drawing
from grader.vgpu.flops import flops_of
from grader.vgpu.generators import generator_for
from grader.vgpu.machine import HOST, Machine, machine
from grader.vgpu.meta import shapes_only
from grader.vgpu.rules import ANYWHERE, agree
from grader.vgpu.tensor import VirtualTensor, device_of, is_blank, wrap

# No kernel: they make, compare or change what describes a tensor.
_WITHOUT_KERNEL = frozenset({
    "empty_like", "new_empty", "new_empty_strided", "_unsafe_view", "_reshape_alias", "lift_fresh",
    "set_", "resize_", "resize_as_", "is_same_size", "_local_scalar_dense", "detach_", "alias",
    "t_", "transpose_", "squeeze_", "unsqueeze_", "_has_same_storage_numel", "as_strided_",
})  # fmt: skip
# The host waits: what comes back, or how large it is, depends on the elements.
_WAITS = {
    "_local_scalar_dense": "item", "nonzero": "nonzero", "masked_select": "masked_select",
    "equal": "equal", "_unique2": "unique", "unique_dim": "unique", "bincount": "bincount",
    "unique_consecutive": "unique_consecutive", "is_nonzero": "item", "histc": "histc",
}  # fmt: skip
# The place of a result that is for the host.
_FOR_HOST = {"_pack_padded_sequence": 1}
_MASKS = (torch.bool, torch.uint8)
_INDEXES = frozenset({"index", "index_put", "index_put_", "_index_put_impl_"})
_RESIZES = frozenset({"resize_", "resize_as_", "set_"})


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of an operation beforehand."""

    name: str
    kernel: bool
    waits: str
    draws: bool
    takes_generator: bool
    anywhere: bool
    foreach: bool
    lazy: bool


@dataclass(slots=True)
class _Met:
    """What an operation's arguments hold.

    Attributes:
        home: Ordinal of the first tensor on a device.
        mixed: Another tensor is elsewhere.
        lazy: A tensor is complex, and may have conjugate views made of it.
        bytes: Of all tensors.
        greatest: Elements of the greatest.
        blank: A tensor has no elements: it was made without arithmetic.
    """

    home: int = -1
    mixed: bool = False
    lazy: bool = False
    blank: bool = False
    bytes: int = 0
    greatest: int = 0

    def meet(self, value: Any) -> None:
        """Take in an argument."""
        if isinstance(value, torch.Tensor):
            number = value.numel()
            self.bytes += number * value.element_size()
            self.greatest = max(self.greatest, number)
            self.lazy = self.lazy or value.is_complex()
            if type(value) is not VirtualTensor:
                self.mixed = True
                return
            self.blank = self.blank or is_blank(value)
            if self.home < 0:
                self.home = value.ordinal
            elif value.ordinal != self.home:
                self.mixed = True
        elif isinstance(value, (list, tuple)):
            for item in value:
                self.meet(item)


_known: dict[Any, _Facts] = {}


def run(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an operation at least one of whose arguments is on a device.

    Raises:
        RuntimeError: Its arguments are on devices that may not meet, or the device is full.
    """
    facts = _known.get(func) or _learn(func)
    here = machine()
    met = _Met()
    with torch._C.DisableTorchFunction():
        met.meet(args)
        if kwargs:
            met.meet(tuple(kwargs.values()))
        if met.home < 0:
            # A tensor that came home (``grader.vgpu.swap.HostTensor``): nothing is on a device.
            return execute(func, args, kwargs)
        if kwargs.get("device") is not None:
            _refuse_device(func, kwargs["device"])
        if met.mixed and not facts.anywhere and not _adopted(here, args):
            agree(func, args, kwargs)
        result = _run(facts, met, func, args, kwargs)
        if facts.name in _RESIZES:
            _count_again(here, args[0])
        result = _place(here, facts, args, result, met)
        _note(here, facts, args, result, met)
    return result


def _learn(func: Any) -> _Facts:
    name = str(func.overloadpacket.__name__)
    facts = _Facts(
        name=name,
        kernel=not func.is_view and name not in _WITHOUT_KERNEL,
        waits=_WAITS.get(name, ""),
        draws=torch.Tag.nondeterministic_seeded in func.tags,
        takes_generator=any(a.name == "generator" for a in func._schema.arguments),
        anywhere=name in ANYWHERE,
        foreach=name.startswith("_foreach_"),
        lazy="linalg" in name or "fft" in name,
    )
    _known[func] = facts
    return facts


def _refuse_device(func: Any, device: Any) -> None:
    # Torch's own C++ passes on the device it sees, the host's; another one was asked for by name.
    if torch.device(device).type != HOST and torch.device(device).type != "meta":
        raise words.unsupported(f"{func} with device={device!r}", "call torch's own function")


def _adopted(here: Machine, args: tuple[Any, ...]) -> bool:
    """Whether torch itself made a tensor on the host that belongs on the device.

    A few formulas of autograd make tensors where the C++ device is. No tensor of the user's joins
    in there (but by a hook or a function of their own), so there is nothing to refuse. Composite
    functions do the same (``grader.vgpu.composites``).
    """
    torchs_own = here.local.adopting or torch._C._current_graph_task_id() >= 0
    return torchs_own and len(set(_ordinals(args))) <= 1


def _ordinals(value: Any) -> Iterator[int]:
    if isinstance(value, VirtualTensor):
        yield value.ordinal
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _ordinals(item)


def _run(facts: _Facts, met: _Met, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not machine().arithmetic:
        return shapes_only(facts.name, func, args, kwargs)
    if met.blank and (facts.kernel or facts.waits):
        raise words.without_elements(facts.name)
    if not facts.draws:
        return execute(func, args, kwargs, lazy=met.lazy or facts.lazy)
    generator = generator_for(machine(), kwargs.get("generator"), met.home)
    if facts.takes_generator:
        return execute(func, args, {**kwargs, "generator": generator})
    return execute_drawing(func, args, kwargs, generator)


def _count_again(here: Machine, tensor: torch.Tensor) -> None:
    if isinstance(tensor, VirtualTensor):
        here.blocks.hold(tensor.untyped_storage(), tensor.ordinal)


def _place(here: Machine, facts: _Facts, args: tuple[Any, ...], result: Any, met: _Met) -> Any:
    """Put new results on the device; what was written in place is there already."""
    if type(result) is torch.Tensor:
        if facts.anywhere and result is args[0]:
            return result
        _refuse_layout(facts, result)
        met.bytes += result.numel() * result.element_size()
        met.greatest = max(met.greatest, result.numel())
        return wrap(result, met.home)
    if isinstance(result, (tuple, list)):
        homes = args[0] if facts.foreach else None
        for_host = _FOR_HOST.get(facts.name)
        placed = [
            wrap(item, met.home if homes is None else homes[index].ordinal)
            if type(item) is torch.Tensor and index != for_host
            else item
            for index, item in enumerate(result)
        ]
        return type(result)(placed)
    return result


def _refuse_layout(facts: _Facts, result: torch.Tensor) -> None:
    if result.layout is not torch.strided:
        raise words.unsupported(f"{facts.name} with a result of layout {result.layout}")


def _note(here: Machine, facts: _Facts, args: tuple[Any, ...], result: Any, met: _Met) -> None:
    if facts.waits or (facts.name in _INDEXES and _counts(args)):
        here.wait(met.home, facts.waits or "nonzero")
    if not facts.kernel:
        return
    if facts.name == "copy_" and device_of(args[1]) not in {device_of(args[0]), "meta"}:
        # (Without arithmetic a number that is written into a tensor is torch's own, on meta.)
        _note_copy(here, args)
        return
    here.note_kernel(
        facts.name, met.home, flops_of(facts.name, args, result, met.greatest), met.bytes
    )


def _counts(args: tuple[Any, ...]) -> bool:
    """Whether an index is a mask whose true elements are counted first.

    Writing one number where a mask is true needs no count: it is ``masked_fill``.
    """
    masks = [each for each in args[1] if each is not None and each.dtype in _MASKS]
    return bool(masks) and (len(args) < 3 or args[2].numel() > 1)


def _note_copy(here: Machine, args: tuple[Any, ...]) -> None:
    target, source = args[0], args[1]
    blocking = not (len(args) > 2 and args[2])
    here.transfer(source, device_of(source), device_of(target), blocking)


def note_fill(name: str, tensor: VirtualTensor) -> None:
    """Take down that a factory wrote a new tensor's elements on its device."""
    if not name.startswith("empty"):
        here = machine()
        size = tensor.numel() * tensor.element_size()
        here.note_kernel(name, tensor.ordinal, 0, size)


VirtualTensor.run = staticmethod(run)
