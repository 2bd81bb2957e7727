"""``torch.cuda``'s questions about memory.

Without an allocator's cache nothing is reserved beyond what is allocated, so the two are the same.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from grader.vgpu.machine import UNBOUNDED, machine
from grader.vgpu.spec import ordinal_or_current


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
    told: dict[str, int] = dict.fromkeys(_NEVER_ONCE, 0)
    for names, known in ((_BYTES, sizes), (_COUNTS, counts), (_NEVER, {}), (_NEVER_POOLED, {})):
        pool = "" if names is _NEVER_POOLED else "all."
        for name in names:
            for metric in ("current", "peak", "allocated", "freed"):
                told[f"{name}.{pool}{metric}"] = known.get(metric, 0)
    return OrderedDict(sorted(told.items()))


def abbreviated_summary(original: Any) -> Any:
    """Return ``memory_summary`` without the lines about an allocator's pools."""

    def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
        return str(original(device, abbreviated=True))

    return memory_summary


FUNCTIONS: dict[str, Any] = {
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
