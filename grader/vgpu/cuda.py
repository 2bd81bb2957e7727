"""``torch.cuda`` and ``torch.accelerator``: what code asks a machine with GPUs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from grader.vgpu import cuda_memory, cuda_random, streams, words
from grader.vgpu.cuda_memory import total
from grader.vgpu.machine import machine
from grader.vgpu.patches import Patches
from grader.vgpu.spec import current, ordinal_or_current

NAME = "Virtual CUDA device"
# Compute capability 8.0, so that code which asks for it finds bfloat16 and TF32.
CAPABILITY = (8, 0)


def set_device(device: Any) -> None:
    """Make a device the thread's current one; a negative index changes nothing."""
    if not (isinstance(device, int) and device < 0):
        machine().local.device = ordinal_or_current(device)


def synchronize(device: Any = None) -> None:
    """Make the host wait for a device."""
    machine().wait(ordinal_or_current(device), "torch.cuda.synchronize")


def get_device_properties(device: Any = None) -> Any:
    """Return what is known of a device."""
    ordinal = ordinal_or_current(device)
    return SimpleNamespace(
        name=NAME, major=CAPABILITY[0], minor=CAPABILITY[1], total_memory=total(ordinal),
        multi_processor_count=1, is_integrated=0, is_multi_gpu_board=0, warp_size=32,
        max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536,
    )  # fmt: skip


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


def _refused(name: str) -> Any:
    def call(*_: Any, **__: Any) -> Any:
        raise words.unsupported(name)

    return call


def _exchange(index: int) -> int:
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
    "_lazy_call": lambda call, **_: call(),
    "empty_cache": _nothing,
    "ipc_collect": _nothing,
    "device_count": lambda: machine().count,
    "current_device": current,
    "set_device": set_device,
    "_exchange_device": _exchange,
    "_maybe_exchange_device": _exchange,
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
    "device": streams.device,
    "device_of": streams.device_of,
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
    "device_index": streams.device,
    "empty_cache": _nothing,
    "get_memory_info": cuda_memory.mem_get_info,
    **cuda_memory.FUNCTIONS,
}


def patch(patches: Patches) -> None:
    """Let ``torch.cuda`` answer for the machine in force."""
    cuda = torch.cuda
    refused = {name: _refused(f"torch.cuda.{name}") for name in _REFUSED}
    tables: list[tuple[Any, dict[str, Any]]] = [
        (cuda, {**_CUDA, **cuda_memory.FUNCTIONS, **cuda_random.FUNCTIONS, **refused}),
        (cuda.memory, cuda_memory.FUNCTIONS),
        (cuda.memory, {name: _CUDA[name] for name in ("empty_cache", "get_allocator_backend")}),
        (cuda.memory, {name: refused[name] for name in _OF_MEMORY}),
        (cuda.random, {**cuda_random.FUNCTIONS, "current_device": current}),
        (cuda.streams, {name: _CUDA[name] for name in ("Stream", "Event")}),
        (cuda.streams, {"ExternalStream": refused["ExternalStream"]}),
        (getattr(torch, "accelerator", None), _ACCELERATOR),
    ]
    for module, table in tables:
        for name, value in table.items():
            if hasattr(module, name):
                patches.set(module, name, value)
    made = patches.wrap(cuda.memory, "memory_summary", cuda_memory.abbreviated_summary)
    patches.set(cuda, "memory_summary", made)
    patches.set(cuda, "default_generators", tuple(machine().generators))
