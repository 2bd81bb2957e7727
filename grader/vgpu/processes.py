"""Several processes: ``torch.multiprocessing.spawn`` and ``torch.distributed``.

A process that was started anew gets virtual devices of its own, like its parent's. Work between
processes goes over gloo on the host, whichever of torch's backends was asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
import torch.distributed
import torch.multiprocessing

from grader.vgpu.machine import installed, machine
from grader.vgpu.patches import Patches


@dataclass(frozen=True, slots=True)
class Started:
    """What a new process runs: the function, where there are devices.

    Attributes:
        work: The function that was asked for.
        count: Number of devices.
        limit: Bytes of each, None for no bound.
    """

    work: Callable[..., Any]
    count: int
    limit: int | None

    def __call__(self, *args: Any) -> Any:
        """Run it; a process that was forked has its parent's devices already."""
        if installed() is not None:
            return self.work(*args)
        # Found late: the package itself imports this module.
        with import_module("grader.vgpu").virtual_gpus(self.count, self.limit):
            return self.work(*args)


class _Processes:
    """The functions that start processes and groups of them, while a machine is in force."""

    def __init__(self) -> None:
        self._backend = ""
        # A model that is the last to hold its group ends it with the interpreter's lock held, and
        # waits for a thread of gloo's, which wants that lock to let go of the modes of a call.
        # Python's own reference ends it without the lock: it is to be the last.
        self._groups: list[Any] = []

    def spawn(self, original: Any) -> Any:
        def start(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            here = machine()
            work = Started(fn, here.count, here.memory(0).limit)
            return original(work, *args, **kwargs)

        return start

    def init(self, original: Any) -> Any:
        def init_process_group(backend: str | None = None, *args: Any, **kwargs: Any) -> Any:
            self._backend = backend or ""
            # The device that a rank is bound to serves NCCL alone.
            kwargs.pop("device_id", None)
            over = "gloo" if "nccl" in self._backend else backend
            result = original(over, *args, **kwargs)
            self._groups.append(torch.distributed.group.WORLD)
            return result

        return init_process_group

    def backend(self, original: Any) -> Any:
        def get_backend(group: Any = None) -> Any:
            found = original(group)
            return "nccl" if self._backend == "nccl" else found

        return get_backend


def patch(patches: Patches) -> None:
    """Let new processes have devices, and groups of them their backend."""
    processes = _Processes()
    for name in ("spawn", "start_processes"):
        patches.wrap(torch.multiprocessing, name, processes.spawn)
    if torch.distributed.is_available():
        patches.wrap(torch.distributed, "init_process_group", processes.init)
        patches.wrap(torch.distributed, "get_backend", processes.backend)
        patches.set(torch.distributed, "is_nccl_available", lambda: True)
