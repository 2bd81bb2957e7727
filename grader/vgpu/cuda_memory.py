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


def memory_stats(device: Any = None) -> OrderedDict[str, int]:
    """Return the counts that a virtual device keeps, under torch's names."""
    memory = machine().memory(ordinal_or_current(device))
    return OrderedDict(
        {
            "active_bytes.all.current": memory.live,
            "active_bytes.all.peak": memory.peak,
            "allocated_bytes.all.current": memory.live,
            "allocated_bytes.all.peak": memory.peak,
            "allocation.all.allocated": memory.taken,
            "allocation.all.current": memory.taken - memory.given_back,
            "allocation.all.freed": memory.given_back,
            "reserved_bytes.all.current": memory.live,
            "reserved_bytes.all.peak": memory.peak,
        }
    )


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """Return live and peak bytes in words."""
    ordinal = ordinal_or_current(device)
    memory = machine().memory(ordinal)
    return (
        f"Virtual CUDA device {ordinal}: {memory.live} bytes allocated, at most {memory.peak}, "
        f"of {total(ordinal)}"
    )


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
    "memory_summary": memory_summary,
    "mem_get_info": mem_get_info,
}
