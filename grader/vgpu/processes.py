"""Processes that a program starts: they find the devices before they import the program.

A child that Python starts anew (``spawn``, and what asks for ``forkserver``) runs a line of ours
first; a forked one has its parent's machine. Tensors go from one to the other by sharing memory, as
CUDA's do. What each of them did is told by ``accounts``.
"""

from __future__ import annotations

import multiprocessing.context
import multiprocessing.reduction
import multiprocessing.spawn
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.multiprocessing

from grader.vgpu import accounts, words
from grader.vgpu.machine import HOST, Machine, Shared, machine
from grader.vgpu.patches import Patches
from grader.vgpu.tensor import VirtualTensor, wrap

_ROOT = str(Path(__file__).parents[2])
_Storage: Any = torch.UntypedStorage
_FIRST = (
    "import sys; sys.path.append({root!r}); "
    "from grader.vgpu.processes import begin; begin({told!r}); "
)


def begin(told: dict[str, Any]) -> None:
    """Make the devices of a process that was just started, as its parent has them."""
    # Found late: the package itself imports this module.
    from grader.vgpu import install  # noqa: PLC0415
    from grader.vgpu.timeline import on_timeline  # noqa: PLC0415

    sys.path.remove(_ROOT)
    here = install(told["count"], told["limit"])
    if told["folder"] is None:
        return
    here.shared = Shared(Path(told["folder"]), told["card"], told["arithmetic"])
    accounts.tell_at_exit(here)
    if told["card"] is not None:
        # Until the process ends.
        on_timeline(told["card"], arithmetic=told["arithmetic"]).__enter__()


def _told(here: Machine) -> dict[str, Any]:
    shared = here.shared
    card = None if shared is None or shared.card is None else shared.card.name
    return {
        "count": here.count,
        "limit": here.memory(0).limit,
        "folder": None if shared is None else str(shared.folder),
        "card": card,
        "arithmetic": shared is None or shared.arithmetic,
    }


def _command(original: Any) -> Any:
    def get_command_line(**named: Any) -> list[str]:
        """Return the command of a new process; its first line makes the devices."""
        command: list[str] = original(**named)
        if "-c" in command:
            at = command.index("-c") + 1
            command[at] = _FIRST.format(root=_ROOT, told=_told(machine())) + command[at]
        return command

    return get_command_line


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a tensor lies in its storage, and what it is."""

    ordinal: int
    dtype: torch.dtype
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    requires_grad: bool
    parameter: bool


def _received(handle: Any, size: int, layout: _Layout) -> Any:
    """Make the tensor that another process sent, over the same memory."""
    descriptor = handle.detach()
    try:
        storage = _Storage._new_shared_fd_cpu(descriptor, size)
    finally:
        os.close(descriptor)
    bare = torch.empty(0, dtype=layout.dtype, device=HOST)
    bare.set_(storage, layout.offset, layout.shape, layout.stride)
    tensor = wrap(bare, layout.ordinal)
    if layout.parameter:
        return torch.nn.Parameter(tensor, layout.requires_grad)
    return tensor.requires_grad_(layout.requires_grad)


def _sent(tensor: VirtualTensor) -> tuple[Any, ...]:
    """Say how to make a device tensor in another process."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd "
            "does not support crossing process boundaries.  If you just want to transfer the data, "
            "call detach() on the tensor before serializing (e.g., putting it on the queue)."
        )
    if sys.platform == "win32":
        raise words.unsupported("a tensor that goes to another process", "send Tensor.cpu()")
    # In place: this process's own tensor lies in the shared memory from now on.
    descriptor, size = tensor.untyped_storage()._share_fd_cpu_()
    layout = _Layout(
        tensor.ordinal, tensor.dtype, int(tensor.storage_offset()), tuple(tensor.shape),
        tensor.stride(), tensor.requires_grad, isinstance(tensor, torch.nn.Parameter),
    )  # fmt: skip
    return _received, (multiprocessing.reduction.DupFd(descriptor), size, layout)


def patch(patches: Patches) -> None:
    """Let new processes have devices, and tensors go to them."""
    spawning = multiprocessing.spawn
    patches.wrap(spawning, "get_command_line", _command)
    # A server of forks would have to have the devices too; a new process has the same effect.
    from_server = getattr(multiprocessing.context, "ForkServerProcess", None)
    if from_server is not None:
        popen = vars(multiprocessing.context.SpawnProcess)["_Popen"]
        patches.set(from_server, "_Popen", popen)
    multiprocessing.reduction.ForkingPickler.register(VirtualTensor, _sent)
