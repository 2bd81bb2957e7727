"""``torch.cuda`` and ``torch.accelerator``: what code asks a machine with GPUs.

Without an allocator's cache nothing is reserved beyond what is allocated, so the two are the same.
``torch.cuda.FloatTensor`` and the like are names, constructors and conversions.
"""

from __future__ import annotations

from collections import OrderedDict
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import torch

from grader.vgpu.core.device import RANDOM_FUNCTIONS, current, ordinal_from, ordinal_or_current
from grader.vgpu.core.machine import HOST, UNBOUNDED, machine
from grader.vgpu.core.tensor import VirtualTensor
from grader.vgpu.patches import Patches, refused, streams


def total(ordinal: int) -> int:
    """Return the bytes that a device has; without a bound, some number must do."""
    limit = machine().memory(ordinal).limit
    return UNBOUNDED if limit is None else limit


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return free bytes and all bytes."""
    ordinal = ordinal_or_current(device)
    capacity = total(ordinal)
    return max(capacity - machine().memory(ordinal).live, 0), capacity


def memory_allocated(device: Any = None) -> int:
    """Return the bytes of live tensors."""
    return machine().memory(ordinal_or_current(device)).live


def max_memory_allocated(device: Any = None) -> int:
    """Return the most bytes of live tensors at one time."""
    return machine().memory(ordinal_or_current(device)).peak


def reset_peak_memory_stats(device: Any = None) -> None:
    """Let the peak be the most from now on."""
    machine().memory(ordinal_or_current(device)).reset_peak()


_BYTES = ("allocated_bytes", "active_bytes", "requested_bytes", "reserved_bytes")
_COUNTS = ("allocation", "active", "segment")
# What an allocator without a cache never has.
_NEVER = ("inactive_split", "inactive_split_bytes")
_NEVER_POOLED = ("oversize_allocations", "oversize_segments")
_NEVER_ONCE = (
    "num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc", "num_device_free",
    "max_split_size",
)  # fmt: skip


def memory_stats(device: Any = None) -> OrderedDict[str, int]:
    """Return the counts that a virtual device keeps, under torch's names; it has one pool."""
    memory = machine().memory(ordinal_or_current(device))
    held, blocks = memory.live, memory.taken - memory.given_back
    sizes = {"current": held, "peak": memory.peak}
    counts = {"current": blocks, "allocated": memory.taken, "freed": memory.given_back}
    statistics: dict[str, int] = dict.fromkeys(_NEVER_ONCE, 0)
    for names, known in ((_BYTES, sizes), (_COUNTS, counts), (_NEVER, {}), (_NEVER_POOLED, {})):
        pool = "" if names is _NEVER_POOLED else "all."
        for name in names:
            for metric in ("current", "peak", "allocated", "freed"):
                statistics[f"{name}.{pool}{metric}"] = known.get(metric, 0)
    return OrderedDict(sorted(statistics.items()))


def abbreviated_summary(original: Any) -> Any:
    """Return ``memory_summary`` without the lines about an allocator's pools."""

    def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
        return str(original(device, abbreviated=True))

    return memory_summary


MEMORY_FUNCTIONS: dict[str, Any] = {
    "memory_allocated": memory_allocated,
    "max_memory_allocated": max_memory_allocated,
    "memory_reserved": memory_allocated,
    "max_memory_reserved": max_memory_allocated,
    "memory_cached": memory_allocated,
    "max_memory_cached": max_memory_allocated,
    "reset_peak_memory_stats": reset_peak_memory_stats,
    "reset_max_memory_allocated": reset_peak_memory_stats,
    "reset_max_memory_cached": reset_peak_memory_stats,
    "reset_accumulated_memory_stats": lambda *_: None,
    "memory_stats": memory_stats,
    "mem_get_info": mem_get_info,
}


NAME = "Virtual CUDA device"
# Compute capability 8.0, so that code which asks for it finds bfloat16 and TF32.
CAPABILITY = (8, 0)


def set_device(device: Any) -> None:
    """Make a device the thread's current one; a negative index changes nothing."""
    if not (isinstance(device, int) and device < 0):
        machine().local.device = ordinal_or_current(device)


class device:  # noqa: N801
    """``with torch.cuda.device(1):``; a negative index or None changes nothing."""

    def __init__(self, device: Any) -> None:
        unchanged = device is None or (isinstance(device, int) and device < 0)
        self.idx = -1 if unchanged else ordinal_from(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        local = machine().local
        self.prev_idx = local.device
        if self.idx is not None and self.idx >= 0:
            local.device = self.idx

    def __exit__(self, *_: object) -> None:
        machine().local.device = self.prev_idx


class device_of(device):  # noqa: N801
    """``with torch.cuda.device_of(tensor):``; a tensor on the host changes nothing."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


def synchronize(device: Any = None) -> None:
    """Make the host wait for a device."""
    machine().wait(ordinal_or_current(device), "torch.cuda.synchronize")


def get_device_properties(device: Any = None) -> Any:
    """Return what is known of a device."""
    ordinal = ordinal_or_current(device)
    return SimpleNamespace(
        name=NAME, major=CAPABILITY[0], minor=CAPABILITY[1], total_memory=total(ordinal),
        multi_processor_count=1, is_integrated=0, is_multi_gpu_board=0, warp_size=32,
        max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536, L2_cache_size=0,
        shared_memory_per_block=49152, uuid=UUID(int=ordinal), pci_bus_id=ordinal,
        pci_device_id=0, pci_domain_id=0,
    )  # fmt: skip


def _empty_cache() -> None:
    """Do nothing: there is no cache."""
    places = machine().places
    if places is not None:
        places.note("torch.cuda.empty_cache")


def _nothing(*_: Any, **__: Any) -> None:
    return None


_REFUSED = (
    "MemPool", "use_mem_pool",
    "ExternalStream", "get_stream_from_external", "caching_allocator_alloc", "cudart",
    "caching_allocator_delete", "change_current_allocator", "CUDAPluggableAllocator",
    "current_blas_handle", "set_sync_debug_mode", "memory_snapshot", "utilization", "temperature",
    "power_draw", "clock_rate", "list_gpu_processes", "set_per_process_memory_fraction",
    "GreenContext", "_sleep", "memory_usage", "device_memory_used",
    "caching_allocator_enable", "caching_allocator_disabled", "get_per_process_memory_fraction",
)  # fmt: skip


_OF_MEMORY = ("MemPool", "CUDAPluggableAllocator", "memory_snapshot", "list_gpu_processes")


def _exchange_device(index: int) -> int:
    before = current()
    set_device(index)
    return before


_CUDA: dict[str, Any] = {
    "is_available": lambda: True,
    "is_initialized": lambda: True,
    "is_bf16_supported": lambda *_, **__: True,
    "is_tf32_supported": lambda: True,
    "_is_in_bad_fork": lambda: machine().forked,
    "init": _nothing,
    "_lazy_init": _nothing,
    # At once: torch keeps such calls until CUDA is initialised, which never happens here.
    "_lazy_call": lambda call, **_: call(),
    "empty_cache": _empty_cache,
    "ipc_collect": _nothing,
    "device_count": lambda: machine().count,
    "current_device": current,
    "set_device": set_device,
    "_exchange_device": _exchange_device,
    "_maybe_exchange_device": _exchange_device,
    "get_device_name": lambda device=None: NAME if ordinal_or_current(device) >= 0 else "",
    "get_device_capability": lambda device=None: (
        CAPABILITY if ordinal_or_current(device) >= 0 else (0, 0)
    ),
    "get_device_properties": get_device_properties,
    "get_arch_list": lambda: [f"sm_{CAPABILITY[0]}{CAPABILITY[1]}"],
    "can_device_access_peer": lambda device, peer: (
        ordinal_or_current(device) != ordinal_or_current(peer)
    ),
    "get_allocator_backend": lambda: "native",
    "get_sync_debug_mode": lambda: 0,
    "synchronize": synchronize,
    "Stream": streams.Stream,
    "Event": streams.Event,
    "StreamContext": streams.StreamContext,
    "stream": streams.stream,
    "set_stream": streams.set_stream,
    "current_stream": streams.current_stream,
    "default_stream": streams.default_stream,
    "device": device,
    "device_of": device_of,
}
_ACCELERATOR: dict[str, Any] = {
    "is_available": lambda: True,
    "device_count": lambda: machine().count,
    "current_accelerator": lambda *_, **__: torch.device("cuda"),
    "current_device_index": current,
    "current_device_idx": current,
    "set_device_index": set_device,
    "set_device_idx": set_device,
    "current_stream": streams.current_stream,
    "set_stream": streams.set_stream,
    "synchronize": synchronize,
    "device_index": device,
    "empty_cache": _empty_cache,
    "get_memory_info": mem_get_info,
    **MEMORY_FUNCTIONS,
}


def patch_cuda(patches: Patches) -> None:
    """Let ``torch.cuda`` answer for the machine in force."""
    cuda = torch.cuda
    refusals = {name: refused(f"torch.cuda.{name}") for name in _REFUSED}
    tables: list[tuple[Any, dict[str, Any]]] = [
        (cuda, {**_CUDA, **MEMORY_FUNCTIONS, **RANDOM_FUNCTIONS, **refusals}),
        (cuda.memory, MEMORY_FUNCTIONS),
        (cuda.memory, {name: _CUDA[name] for name in ("empty_cache", "get_allocator_backend")}),
        (cuda.memory, {name: refusals[name] for name in _OF_MEMORY}),
        (cuda.random, {**RANDOM_FUNCTIONS, "current_device": current}),
        (cuda.streams, {name: _CUDA[name] for name in ("Stream", "Event")}),
        (cuda.streams, {"ExternalStream": refusals["ExternalStream"]}),
        (getattr(torch, "accelerator", None), _ACCELERATOR),
    ]
    for module, table in tables:
        for name, value in table.items():
            # Only names that this torch has: programs ask by hasattr what their release can do.
            if hasattr(module, name):
                patches.set(module, name, value)
    made = patches.wrap(cuda.memory, "memory_summary", abbreviated_summary)
    patches.set(cuda, "memory_summary", made)
    patches.set(cuda, "default_generators", tuple(machine().generators))


KINDS = {
    "FloatTensor": torch.float32, "DoubleTensor": torch.float64, "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16, "ByteTensor": torch.uint8, "CharTensor": torch.int8,
    "ShortTensor": torch.int16, "IntTensor": torch.int32, "LongTensor": torch.int64,
    "BoolTensor": torch.bool,
}  # fmt: skip
_NAMES = {dtype: name for name, dtype in KINDS.items()}
# Torch's own, before anything is patched.
_HOST_TYPES = {name: getattr(torch, name) for name in KINDS}


class _TensorType(type):
    """``torch.FloatTensor`` or ``torch.cuda.FloatTensor``: makes tensors, and knows its own."""

    dtype: torch.dtype
    is_cuda: bool

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = _HOST_TYPES[cls.__name__](*args, **kwargs)
        return made.cuda() if cls.is_cuda else made

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, torch.Tensor)
            and instance.dtype is cls.dtype
            and isinstance(instance, VirtualTensor) is cls.is_cuda
            and (cls.is_cuda or instance.device.type == HOST)
        )

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__name__}'>"


def _tensor_type(name: str, *, is_cuda: bool) -> type:
    body = {
        "dtype": KINDS[name],
        "is_cuda": is_cuda,
        "layout": torch.strided,
        "__module__": "torch.cuda" if is_cuda else "torch",
    }
    return _TensorType(name, (), body)


def type_name(tensor: torch.Tensor) -> str:
    """Return ``torch.cuda.FloatTensor`` or the like, as ``Tensor.type()`` does."""
    if not isinstance(tensor, VirtualTensor):
        return str(torch._C.TensorBase.type(tensor))
    name = _NAMES.get(tensor.dtype)
    return f"torch.cuda.{name}" if name else f"torch.cuda.{tensor.dtype}"


def dtype_and_device(kind: Any) -> tuple[torch.dtype, bool]:
    """Return what a tensor type stands for: its dtype, and whether it is on a device.

    Args:
        kind: A type, or its name ``'torch.cuda.FloatTensor'``.

    Raises:
        ValueError: No such type (torch's words).
    """
    name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__name__}"
    prefix, _, short = name.rpartition(".")
    if short not in KINDS or prefix not in {"torch", "torch.cuda"}:
        raise ValueError(f"invalid type: '{name}'")
    return KINDS[short], prefix == "torch.cuda"


def _set_default_tensor_type(kind: Any) -> None:
    """Make new tensors of a type, and so of a device, unless told otherwise."""
    dtype, on_device = dtype_and_device(kind)
    torch.set_default_dtype(dtype)
    torch.set_default_device(f"cuda:{current()}" if on_device else HOST)


def patch_tensor_types(patches: Patches) -> None:
    """Give the types their devices."""
    for name in KINDS:
        patches.set(torch, name, _tensor_type(name, is_cuda=False))
        patches.set(torch.cuda, name, _tensor_type(name, is_cuda=True))
    patches.set(torch, "set_default_tensor_type", _set_default_tensor_type)
