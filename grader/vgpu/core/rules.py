"""Which devices may meet in an operation, and what torch says when others do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from grader.vgpu.core.machine import HOST, machine
from grader.vgpu.core.tensor import device_of
from grader.vgpu.patches import not_the_weights, two_devices, two_devices_in_kernel

# Operands that may stay on the host: ``copy_`` moves, an index is moved, metadata is compared.
ANYWHERE = frozenset({"copy_", "is_same_size", "set_", "resize_as_", "_has_same_storage_numel"})
_INDEXING = frozenset({
    "index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put",
})  # fmt: skip
# What kernels read on the host.
_ON_HOST = {"_pack_padded_sequence": {"lengths"}}
_CONVOLUTIONS = frozenset({"convolution", "_convolution", "convolution_overrideable"})


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor among the arguments: what the schema calls it, and whether it is written to."""

    name: str
    tensor: torch.Tensor
    written: bool

    @property
    def device(self) -> str:
        """``cpu`` or ``cuda:N``."""
        return device_of(self.tensor)

    @property
    def scalar(self) -> bool:
        """A host tensor of no dimensions, which elementwise operations take as a number."""
        return self.device == HOST and self.tensor.dim() == 0


def agree(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Check an operation whose tensors are not all on one device.

    Raises:
        RuntimeError: They may not meet (torch's words).
    """
    name = str(func.overloadpacket.__name__)
    on_host = _ON_HOST.get(name, ())
    operands = [
        each
        for each in _operands(func, args, kwargs)
        # Without arithmetic a number joins in as a tensor of no elements, which torch has made.
        if each.name not in on_host and not (each.device == "meta" and each.tensor.dim() == 0)
    ]
    if name in _INDEXING:
        _indexing(operands)
    elif name in _CONVOLUTIONS:
        _convolution(operands)
    elif name.startswith("_foreach_"):
        _columns(args)
    elif name == "equal":
        first, second = operands[0].device, operands[1].device
        raise RuntimeError(
            f"Cannot compare two tensors on different devices. Got: {first} and {second}"
        )
    else:
        overload = func._overloadname.replace("default", "")
        kernel = kernel_of(name, overload, on_host=operands[0].device == HOST)
        if kernel.checks:
            _all_on_one(name, operands, kernel.name)
        else:
            # ``where`` moves all of its host scalars itself (ATen/native/TensorCompare.cpp).
            _elementwise(operands, spare=3 if name == "where" else 1)


def _operands(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Operand]:
    declared = list(func._schema.arguments)
    given = {argument.name: value for argument, value in zip(declared, args, strict=False)}
    given.update(kwargs)
    # Kernels look at their outputs first.
    for argument in sorted(declared, key=lambda argument: not argument.is_out):
        value = given.get(argument.name)
        info = argument.alias_info
        written = info is not None and info.is_write
        for item in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(item, torch.Tensor):
                yield Operand(argument.name, item, written)


def _columns(args: tuple[Any, ...]) -> None:
    """Lists of tensors: those that stand at the same place must meet, the lists' own need not."""
    lists = [value for value in args if isinstance(value, (list, tuple))]
    for column in zip(*lists, strict=False):
        devices = [device_of(item) for item in column if isinstance(item, torch.Tensor)]
        for device in devices:
            if device != devices[0]:
                raise two_devices(devices[0], device)


def _elementwise(operands: list[Operand], spare: int) -> None:
    """As TensorIterator: the first device that is not the host's is the common one.

    So many (``spare``) host tensors without dimensions may be read beside it.
    """
    common = next(operand.device for operand in operands if operand.device != HOST)
    for operand in operands:
        if operand.scalar and not operand.written:
            if spare == 0:
                raise RuntimeError("Trying to pass too many CPU scalars to non-CPU kernel!")
            spare -= 1
        elif operand.device != common:
            raise two_devices(common, operand.device)


def _all_on_one(op: str, operands: list[Operand], kernel: str) -> None:
    """As a kernel's own check: each must be where the first is."""
    common = operands[0].device
    for operand in operands:
        if operand.device != common:
            argument = argument_name(op, operand.name)
            raise two_devices_in_kernel(common, operand.device, argument, kernel)


def _indexing(operands: list[Operand]) -> None:
    """Indices may stay on the host; values must be where the tensor is, or a host scalar."""
    home = operands[0].device
    # Without arithmetic ``vmap`` makes indices of its own where there are no elements.
    allowed = {HOST, home} if machine().arithmetic else {HOST, home, "meta"}
    for operand in operands[1:]:
        if operand.name == "indices" and operand.device not in allowed:
            raise RuntimeError(
                "indices should be either on cpu or on the same device as the indexed tensor "
                f"({home})"
            )
        if operand.name == "values" and operand.device != home and not operand.scalar:
            raise two_devices(home, operand.device)


def _convolution(operands: list[Operand]) -> None:
    """As ``check_input_same_type_as_parameters``, then the kernel's own check."""
    inputs, *parameters = operands[:3]
    for parameter in parameters:
        if (inputs.device == HOST) != (parameter.device == HOST):
            raise not_the_weights(
                inputs.tensor.type(), parameter.name, parameter.tensor.type(), inputs.device == HOST
            )
    _all_on_one("convolution", operands, kernel_of("convolution", "").name)


_TABLE = Path("packaged/ATen/native/native_functions.yaml")

# Where a CUDA build runs another kernel than the CPU build that carries the virtual devices.
_INSTEAD = {
    "convolution": "cudnn_convolution",
    "native_batch_norm": "cudnn_batch_norm",
    "_native_batch_norm_legit": "cudnn_batch_norm",
    "embedding": "index_select",
    "stack": "cat",
}
# cuDNN is asked only where the input is on the device.
_BY_INPUT = frozenset({"native_batch_norm", "_native_batch_norm_legit"})
_RENAMED_ARGUMENTS = {("embedding", "weight"): "self", ("embedding", "indices"): "index"}


@dataclass(frozen=True, slots=True)
class CudaKernel:
    """A kernel.

    Attributes:
        name: As torch names it in messages: ``wrapper_CUDA_addmm``.
        checks: Whether it checks the devices itself; if not, the loop over elements does.
    """

    name: str
    checks: bool


def kernel_of(op: str, overload: str, *, on_host: bool = False) -> CudaKernel:
    """Return the kernel of an ATen operation.

    Args:
        op: ``addmm``.
        overload: ``out``, or empty.
        on_host: Its first argument is on the host.
    """
    stands_for = op if on_host and op in _BY_INPUT else _INSTEAD.get(op, op)
    entry = _entry(stands_for, "" if stands_for != op else overload)
    if entry is None:
        # Made of other operations, or a build without its table: say what the loop would say.
        return CudaKernel("", checks=False)
    if "structured_delegate:" in entry or "structured: True" in entry:
        parts = (stands_for, overload) if overload and stands_for == op else (stands_for,)
        name = "wrapper_CUDA_" + "_".join(parts)
    else:
        name = f"wrapper_CUDA_{overload if stands_for == op else ''}_{stands_for}"
    runs_there = "structured" in entry or re.search(r"^\s+[\w, ]*\bCUDA\b.*:", entry, re.M)
    return CudaKernel(name, checks=bool(runs_there) and "device_check: NoCheck" not in entry)


def argument_name(op: str, name: str) -> str:
    """Return what the kernel calls an argument of ``op``."""
    return _RENAMED_ARGUMENTS.get((op, name), name)


def _entry(op: str, overload: str) -> str | None:
    head = re.escape(f"- func: {op}.{overload}(" if overload else f"- func: {op}(")
    found = re.search(rf"^{head}.*?(?=^- func:|\Z)", _table(), re.M | re.S)
    return found.group() if found else None


@lru_cache(maxsize=1)
def _table() -> str:
    found = find_spec("torchgen")
    if found is None or found.origin is None:
        return ""
    try:
        return (Path(found.origin).parent / _TABLE).read_text(encoding="utf-8")
    except OSError:  # behind walls, or a build without it
        return ""
