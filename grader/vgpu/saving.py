"""``torch.save``, and ``torch.load`` with ``map_location``: files know where a tensor was.

Torch asks a list of packages where a storage is and how to bring it back there; one for virtual
devices stands before torch's own for CUDA.
"""

from __future__ import annotations

from typing import Any

import torch

from grader.vgpu.machine import HOST, machine
from grader.vgpu.patches import Patches
from grader.vgpu.spec import ordinal_from
from grader.vgpu.tensor import relabel

# Before torch's own for the host (10), which would take every storage for one of its own.
_PRIORITY = 5


def _tag(storage: Any) -> str | None:
    ordinal = machine().blocks.owner(storage)
    return None if ordinal is None else f"cuda:{ordinal}"


def _restore(storage: Any, location: str) -> Any:
    """Bring a storage that was just read to where ``location`` says."""
    if not location.startswith("cuda"):
        return None
    here = machine()
    ordinal = ordinal_from(
        torch.serialization._validate_device(location, "cuda")  # type: ignore[no-untyped-call]
    )
    assert ordinal is not None  # it begins with “cuda”
    if here.blocks.owner(storage) is None:
        content = torch.empty(0, dtype=torch.uint8, device=HOST).set_(storage)
        here.transfer(content, HOST, f"cuda:{ordinal}", True)
    here.blocks.hold(storage, ordinal)
    return storage


def _rebuilt(original: Any) -> Any:
    def rebuild(storage: Any, storage_offset: int, size: Any, stride: Any) -> torch.Tensor:
        """Make a tensor of a storage that was read, on the device where that now is."""
        made: torch.Tensor = original(storage, storage_offset, size, stride)
        ordinal = machine().blocks.owner(storage._untyped_storage)
        return made if ordinal is None else relabel(made, ordinal)

    return rebuild


def _place(original: Any) -> property:
    """Where a storage is: C++ knows the host alone."""

    def device(self: Any) -> torch.device:
        tag = _tag(self)
        return original.__get__(self) if tag is None else torch.device(tag)

    return property(device)


def patch(patches: Patches) -> None:
    """Let files remember virtual devices."""
    storage = torch.UntypedStorage
    patches.set(storage, "device", _place(storage.device))
    patches.set(storage, "is_cuda", property(lambda self: _tag(self) is not None))
    registry = torch.serialization._package_registry
    ours = (_PRIORITY, _tag, _restore)
    # A list of its own for the while: torch's is the one that comes back.
    patches.set(torch.serialization, "_package_registry", sorted([*registry, ours]))
    patches.set(torch._utils, "_rebuild_tensor", _rebuilt(torch._utils._rebuild_tensor))
