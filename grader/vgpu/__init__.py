"""Virtual CUDA devices on a machine that has none.

``virtual_gpus(2)`` is a context in which ``cuda:0`` and ``cuda:1`` exist for every thread of the
process: torch's own names and errors, a trace of what ran where, memory that can run out. The
arithmetic is the CPU's. What is supported, and how each part is tested, is in ``docs/vgpu.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from grader.vgpu import (
    autocast,
    batch_norm,
    composites,
    cuda,
    factories,
    generators,
    graphs,
    groups,
    legacy,
    methods,
    modules,
    pinned,
    processes,
    refused,
    saving,
    sequences,
    sharded,
    spec,
    tools,
)
from grader.vgpu.late_import import LateImport
from grader.vgpu.machine import Machine, installed, set_machine
from grader.vgpu.magics import load_ipython_extension
from grader.vgpu.memory import Memory
from grader.vgpu.tensor import device_of, plain
from grader.vgpu.trace import Trace

__all__ = [
    "Machine", "Memory", "Trace", "device_of", "install", "installed", "load_ipython_extension",
    "plain", "virtual_gpus",
]  # fmt: skip

_PARTS = (
    tools, spec, legacy, generators, factories, methods, modules, composites, sequences, cuda,
    saving, autocast, batch_norm, graphs, groups, processes, sharded,
    refused,
)  # fmt: skip


def install(count: int, memory: int | None = None) -> Machine:
    """Give the process ``count`` virtual CUDA devices, until ``Machine.uninstall``.

    Args:
        count: Number of devices, at least one.
        memory: Bytes that each has; None for no bound.

    Raises:
        ValueError: Fewer than one device, or memory below one byte.
        RuntimeError: Virtual devices are installed already.
    """
    if count < 1:
        raise ValueError(f"a machine needs at least one virtual device, not {count}")
    if memory is not None and memory < 1:
        raise ValueError(f"memory of a virtual device is given in bytes, at least 1, not {memory}")
    usual = torch.get_default_dtype()

    def uninstall(machine: Machine) -> None:
        if torch.get_default_device().type == "cuda":
            torch.set_default_device(None)
        torch.set_default_dtype(usual)
        late.stop()
        machine.patches.undo()
        pinned.forget()
        set_machine(None)

    machine = Machine(count, memory, uninstall)
    late = LateImport(machine.patches)
    set_machine(machine)
    try:
        for part in _PARTS:
            part.patch(machine.patches)
        late.start()
    except BaseException:
        machine.uninstall()
        raise
    return machine


@contextmanager
def virtual_gpus(count: int, memory: int | None = None) -> Iterator[Machine]:
    """Give the process virtual CUDA devices for the length of a ``with``; see ``install``."""
    machine = install(count, memory)
    try:
        yield machine
    finally:
        machine.uninstall()
