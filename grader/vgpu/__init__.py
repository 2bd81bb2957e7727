"""Virtual CUDA devices on a machine that has none.

``virtual_gpus(2)`` is a context in which ``cuda:0`` and ``cuda:1`` exist for every thread of the
process: torch's own names and errors, a trace of what ran where, memory that can run out. The
arithmetic is the CPU's. What is supported, and how each part is tested, is in ``docs/vgpu.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from grader.vgpu.core.device import default_type, patch_device, patch_generators
from grader.vgpu.core.machine import Machine, Memory, installed, set_machine
from grader.vgpu.core.tensor import device_of, plain
from grader.vgpu.core.trace import Trace
from grader.vgpu.core.transfer import forget_pinned
from grader.vgpu.magics import load_ipython_extension
from grader.vgpu.patches.autocast import patch_autocast
from grader.vgpu.patches.cuda import patch_cuda, patch_tensor_types
from grader.vgpu.patches.factories import patch_factories, patch_saving
from grader.vgpu.patches.faked import patch_faked
from grader.vgpu.patches.groups import patch_groups
from grader.vgpu.patches.methods import patch_composites, patch_methods
from grader.vgpu.patches.modules import patch_batch_norm, patch_modules, patch_sequences
from grader.vgpu.patches.sharded import LateImport, patch_sharded
from grader.vgpu.patches.streams import patch_graphs
from grader.vgpu.patches.tools import patch_refused, patch_tools
from grader.vgpu.processes import patch_processes

__all__ = [
    "Machine", "Memory", "Trace", "device_of", "install", "installed", "load_ipython_extension",
    "plain", "virtual_gpus",
]  # fmt: skip

_PATCHES = (
    patch_tools, patch_device, patch_tensor_types, patch_generators, patch_factories, patch_methods,
    patch_modules, patch_composites, patch_sequences, patch_cuda, patch_saving, patch_autocast,
    patch_batch_norm, patch_graphs, patch_groups, patch_processes, patch_sharded,
    patch_faked,
    # Last: it refuses whatever nothing else stands for.
    patch_refused,
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
        # Left as it is, torch would make every further tensor on a device that is gone.
        if default_type() == "cuda":
            torch.set_default_device(None)
        torch.set_default_dtype(usual)
        late.stop()
        machine.patches.undo()
        forget_pinned()
        set_machine(None)

    machine = Machine(count, memory, uninstall)
    late = LateImport(machine.patches)
    set_machine(machine)
    try:
        for patch in _PATCHES:
            patch(machine.patches)
        late.start()
    except BaseException:
        # A torch that is patched by half would fail later, far from the cause.
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
