"""An operation on device tensors: check the devices, run it, note it, put its results there."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.autograd import forward_ad

from grader.vgpu.core.device import generator_for
from grader.vgpu.core.execution import (
    Count,
    collective_of,
    execute,
    execute_drawing,
    formula_of,
    function_of,
    shapes_only,
    without_numbers,
)
from grader.vgpu.core.machine import HOST, Machine, machine
from grader.vgpu.core.rules import ANYWHERE, agree
from grader.vgpu.core.tensor import VirtualTensor, device_of, is_blank, tensors_in, wrap
from grader.vgpu.patches import no_nested, unsupported, without_elements

# No kernel: they make, compare or change what describes a tensor.
_WITHOUT_KERNEL = frozenset({
    "empty_like", "new_empty", "new_empty_strided", "_unsafe_view", "_reshape_alias", "lift_fresh",
    "set_", "resize_", "resize_as_", "is_same_size", "_local_scalar_dense", "detach_", "alias",
    "t_", "transpose_", "squeeze_", "unsqueeze_", "_has_same_storage_numel", "as_strided_",
    "wait_tensor", "_wrap_tensor_autograd",
})  # fmt: skip
# The host waits: what comes back, or how large it is, depends on the elements.
_WAITS = {
    "_local_scalar_dense": "item", "nonzero": "nonzero", "masked_select": "masked_select",
    "equal": "equal", "_unique2": "unique", "unique_dim": "unique", "bincount": "bincount",
    "unique_consecutive": "unique_consecutive", "is_nonzero": "item", "histc": "histc",
}  # fmt: skip
# The place of a result that is for the host.
_FOR_HOST = {"_pack_padded_sequence": 1}
_NoTorchFunction = torch._C.DisableTorchFunction
# Arguments in which there is no tensor.
_PLAIN = frozenset({int, float, bool, str, type(None), torch.dtype, torch.device, torch.layout})
_MASKS = (torch.bool, torch.uint8)
_INDEXES = frozenset({"index", "index_put", "index_put_", "_index_put_impl_"})
# ``nn.TransformerEncoder`` makes nested tensors for its own layers, which take them to the end.
_IN_TRANSFORMERS = frozenset({"_nested_tensor_from_mask", "_nested_tensor_from_mask_left_aligned"})
_CUDA = torch._C.DispatchKey.CUDA
# An operation of torch's for which there is no kernel on the host.
_ONLY_CUDAS = re.compile(r"Could not run '[^']+' with arguments from the 'CPU' backend")
# One that does not work out the shape of its result without computing it.
_NO_SHAPES = re.compile("with Meta tensors, but there was no fake impl|[Mm]eta_? ?registration")
_RESIZES = frozenset({"resize_", "resize_as_", "set_"})


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of an operation beforehand.

    Attributes:
        name: ATen's, without overload.
        func: The operation itself.
        function: The fastest way to run it.
        own: It is a kernel for CUDA that the program has registered, made of torch's operations.
        special: It is such a kernel, or may be told a device.
        kernel: It runs one.
        waits: What the host waits for, or empty.
        draws: Random numbers.
        takes_generator: It has an argument for one.
        anywhere: Its tensors may be on several devices.
        foreach: It takes lists of tensors, whose places go together.
        lazy: It may make conjugate views inside.
        resizes: It may change a tensor's storage.
        indexes: By tensors, which may be masks.
        exchange: It is between processes.
        formula: Counts its floating-point operations.
    """

    name: str
    func: Any
    function: Callable[..., Any]
    own: bool
    special: bool
    kernel: bool
    waits: str
    draws: bool
    takes_generator: bool
    anywhere: bool
    foreach: bool
    lazy: bool
    resizes: bool
    indexes: bool
    exchange: bool
    formula: Count


class _Met:
    """What an operation's arguments hold.

    Attributes:
        facts: Of the operation.
        home: Ordinal of the first tensor on a device.
        mixed: Another tensor is elsewhere.
        lazy: A tensor is complex, and may have conjugate views made of it.
        bytes: Of all tensors.
        greatest: Elements of the greatest.
    """

    __slots__ = ("bytes", "facts", "greatest", "home", "lazy", "mixed")

    def __init__(self, facts: _Facts) -> None:
        self.facts = facts
        self.home = -1
        self.mixed = self.lazy = False
        self.bytes = self.greatest = 0

    def meet(self, values: Iterable[Any]) -> None:
        """Take in arguments, lists of them looked into."""
        for value in values:
            kind = type(value)
            if kind is VirtualTensor:
                if value.ordinal != self.home:
                    self._move_in(value.ordinal)
            elif kind in _PLAIN:
                continue
            elif isinstance(value, torch.Tensor):
                self.mixed = True
            else:
                if isinstance(value, (list, tuple)):
                    self.meet(value)
                continue
            number = value.numel()
            self.bytes += number * value.element_size()
            self.greatest = max(self.greatest, number)
            if value.is_complex():
                self.lazy = True

    def _move_in(self, ordinal: int) -> None:
        if self.home < 0:
            self.home = ordinal
        else:
            self.mixed = True


_known: dict[Any, _Facts] = {}


def run(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an operation at least one of whose arguments is on a device.

    Raises:
        RuntimeError: Its arguments are on devices that may not meet, or the device is full.
    """
    facts = _known.get(func) or _learn(func)
    here = machine()
    met = _Met(facts)
    # Without it, modes would see what follows as calls of the program's own.
    with _NoTorchFunction():
        met.meet(args)
        if kwargs:
            met.meet(kwargs.values())
        if (met.mixed or met.home < 0 or facts.special) and _apart(here, met, args, kwargs):
            return facts.function(*args, **kwargs) if facts.own else execute(func, args, kwargs)
        try:
            result = _run(here, met, func, args, kwargs)
        except RuntimeError as error:
            raise _in_other_words(here, met, error) from None
        # Before it is noted: an operation that finds the device full has not run.
        result = _place(here, met, args, result)
        if facts.kernel or facts.waits:
            _note(here, met, args, result)
        elif facts.exchange:
            here.exchanged(facts.name, args, result)
        if here.log is not None:
            here.log.unseen(func, args, kwargs, result)
    return result


def _in_other_words(here: Machine, met: _Met, error: RuntimeError) -> Exception:
    """Return what an error of the host's means on a device: refused by name, full, or itself."""
    name, words = met.facts.name, str(error)
    if isinstance(error, NotImplementedError):
        if _ONLY_CUDAS.match(words):
            return unsupported(f"torch.ops.{met.facts.func.namespace}.{name}")
        if not here.arithmetic and _NO_SHAPES.search(words):
            return without_numbers(name)
    return here.full_or(error, met.home)


def _apart(here: Machine, met: _Met, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Tell whether an operation is none of the device's; refuse tensors that may not meet."""
    if met.home < 0:
        # A tensor that came home (``transfer.HostTensor``): nothing is on a device.
        return True
    if "device" in kwargs and _is_meta(met.facts.func, kwargs["device"]):
        return True
    if met.mixed and not met.facts.anywhere and not _adopted(here, args):
        agree(met.facts.func, args, kwargs)
    return met.facts.own


def _learn(func: Any) -> _Facts:
    name = str(func.overloadpacket.__name__)
    if "nested" in name and name not in _IN_TRANSFORMERS:
        # Each time anew, for it is not kept: nothing may be made that C++ then ends the process at.
        raise no_nested(f"torch.{name}")
    if func.namespace != "aten" and not _runs_on_devices(func.name()):
        raise _not_for_cuda(func.name())
    exchange = func.namespace == "_c10d_functional" and name not in _WITHOUT_KERNEL
    own = _is_programs(func.name(), "CUDA")
    if name.startswith("quantize_per_"):
        # Its result would know the host's quantizer alone.
        raise unsupported(name, "torch.fake_quantize_per_tensor_affine")
    facts = _Facts(
        name=name,
        func=func,
        function=(
            partial(func._op_dk, _CUDA)
            if own
            else collective_of(func)
            if exchange
            else function_of(func)
        ),
        own=own,
        special=own or any(a.name == "device" for a in func._schema.arguments),
        kernel=not (func.is_view or exchange or name in _WITHOUT_KERNEL),
        waits=_WAITS.get(name, ""),
        draws=torch.Tag.nondeterministic_seeded in func.tags,
        takes_generator=any(a.name == "generator" for a in func._schema.arguments),
        anywhere=name in ANYWHERE,
        foreach=name.startswith("_foreach_"),
        lazy="linalg" in name or "fft" in name,
        resizes=name in _RESIZES,
        indexes=name in _INDEXES,
        exchange=exchange,
        formula=formula_of(name),
    )
    _known[func] = facts
    return facts


def _is_programs(operation: str, key: str) -> bool:
    """Tell whether a program has registered a kernel for a kind of device, from Python.

    A torch that was built for CUDA has kernels of its own, in C++: none of them can run here.
    """
    if not torch._C._dispatch_has_kernel_for_dispatch_key(operation, key):
        return False
    kernels = torch._C._dispatch_dump(operation).splitlines()
    return any(line.startswith(f"{key}: ") and ".py:" in line for line in kernels)


def _runs_on_devices(operation: str) -> bool:
    """Tell whether an operation has a kernel for CUDA, or stands for one.

    What a library has for the CPU in C++ stands for its kernel for CUDA; what a program has
    registered for the CPU alone stands for nothing.
    """
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    anywhere = has(operation, "CUDA") or any(
        has(operation, f"Composite{kind}Autograd") for kind in ("Implicit", "Explicit")
    )
    return anywhere or not _is_programs(operation, "CPU")


def _not_for_cuda(operation: str) -> NotImplementedError:
    return NotImplementedError(
        f"Could not run '{operation}' with arguments from the 'CUDA' backend. This could be "
        "because the operator doesn't exist for this backend, or was omitted during the "
        "selective/custom build process (if using custom build)."
    )


def forget_operations(original: Any) -> Any:
    """Look anew at what operations have once a kernel is registered or taken away."""

    @functools.wraps(original)
    def changed(*args: Any, **kwargs: Any) -> Any:
        _known.clear()
        return original(*args, **kwargs)

    return changed


def _is_meta(func: Any, device: Any) -> bool:
    """Tell whether a result shall have no elements, and so be on no device; refuse all others.

    Torch's own C++ passes on the device it sees, the host's; another one was asked for by name.
    """
    kind = HOST if device is None else torch.device(device).type
    if kind not in {HOST, "meta"}:
        raise unsupported(f"{func} with device={device!r}", "call torch's own function")
    return kind == "meta"


def _adopted(here: Machine, args: tuple[Any, ...]) -> bool:
    """Tell whether torch itself made a tensor on the host that belongs on the device.

    A few formulas of autograd make tensors where the C++ device is. No tensor of the user's joins
    in there (but by a hook or a function of their own), so there is nothing to refuse. Composite
    functions do the same (``grader.vgpu.patches.methods``).
    """
    torchs_own = (
        here.local.adopting
        or torch._C._current_graph_task_id() >= 0
        or (forward_ad._current_level >= 0 and all(map(_is_torchs_zero, _on_host(args))))
    )
    return torchs_own and len({tensor.ordinal for tensor in _on_devices(args)}) <= 1


def _is_torchs_zero(tensor: torch.Tensor) -> bool:
    """Tell whether a tensor is what forward derivatives take for one that is nought: one element.

    Autograd makes it where the C++ device is, as the tangent of what has none.
    """
    return not any(tensor.stride())


def _on_host(value: Any) -> Iterator[torch.Tensor]:
    return (each for each in tensors_in(value) if not isinstance(each, VirtualTensor))


def _on_devices(value: Any) -> Iterator[VirtualTensor]:
    if isinstance(value, VirtualTensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _on_devices(item)


def _run(here: Machine, met: _Met, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    facts = met.facts
    if not here.arithmetic:
        return shapes_only(facts.name, func, args, kwargs)
    if here.blanks and (facts.kernel or facts.waits):
        _refuse_blank(facts, (*args, *kwargs.values()))
    if not facts.draws:
        return execute(facts.function, args, kwargs, lazy=met.lazy or facts.lazy)
    generator = generator_for(here, kwargs.get("generator"), met.home)
    if facts.takes_generator:
        return execute(func, args, {**kwargs, "generator": generator})
    return execute_drawing(func, args, kwargs, generator)


def _refuse_blank(facts: _Facts, args: tuple[Any, ...]) -> None:
    if any(map(is_blank, _on_devices(args))):
        raise without_elements(facts.name)


def _place(here: Machine, met: _Met, args: tuple[Any, ...], result: Any) -> Any:
    """Put new results on the device; what was written in place is there already."""
    facts = met.facts
    kind = type(result)
    if kind is VirtualTensor:
        if facts.resizes:
            here.blocks.hold(result.untyped_storage(), result.ordinal)
        return result
    if kind is torch.Tensor:
        # A tensor of the host's that was written to from a device stays where it is.
        if facts.anywhere and result is args[0]:
            return result
        _refuse_layout(facts, result)
        number = result.numel()
        met.bytes += number * result.element_size()
        met.greatest = max(met.greatest, number)
        return wrap(result, met.home)
    return _place_all(met, args, result) if isinstance(result, (tuple, list)) else result


def _place_all(met: _Met, args: tuple[Any, ...], results: Any) -> Any:
    facts = met.facts
    homes = args[0] if facts.foreach else None
    for_host = _FOR_HOST.get(facts.name)
    placed = [
        wrap(item, met.home if homes is None else homes[index].ordinal)
        if type(item) is torch.Tensor and index != for_host
        else item
        for index, item in enumerate(results)
    ]
    return type(results)(placed)


def _refuse_layout(facts: _Facts, result: torch.Tensor) -> None:
    if result.layout is not torch.strided:
        raise unsupported(f"{facts.name} with a result of layout {result.layout}")


def _note(here: Machine, met: _Met, args: tuple[Any, ...], result: Any) -> None:
    facts = met.facts
    if facts.waits or (facts.indexes and _counts(args)):
        here.wait(met.home, facts.waits or "nonzero")
    if not facts.kernel:
        return
    if (
        met.mixed
        and facts.name == "copy_"
        and device_of(args[1]) not in {device_of(args[0]), "meta"}
        and not _in_bucket(here)
    ):
        # (Without arithmetic a number that is written into a tensor is torch's own, on meta.)
        _note_copy(here, args)
        return
    here.note_kernel(facts.name, met.home, facts.formula(args, result, met.greatest), met.bytes)
    if here.places is not None:
        here.places.kernel(facts.name, args, result, met.bytes)


def _in_bucket(here: Machine) -> bool:
    """Tell whether a copy is of a gradient, into a bucket of DistributedDataParallel or out of it.

    C++ makes the buckets where the C++ device is; on a GPU they are on it.
    """
    return here.reducing and torch._C._current_graph_task_id() >= 0


def _counts(args: tuple[Any, ...]) -> bool:
    """Tell whether an index is a mask whose true elements are counted first.

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
    here = machine()
    if here.local.capture is not None:
        here.local.capture.fill(name, tensor)
    if not name.startswith("empty"):
        size = tensor.numel() * tensor.element_size()
        here.note_kernel(name, tensor.ordinal, 0, size)


# Set from here: that module cannot import this one, which imports it.
VirtualTensor.run = staticmethod(run)
