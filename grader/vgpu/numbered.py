"""Numbers of the memory that tensors lie in, as long as it is alive."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

from grader.vgpu.tensor import VirtualTensor


class UnwritableError(Exception):
    """An argument that has no place in a log."""


class NumberedMemory:
    """Numbers of storages that are alive, and on which device each is."""

    def __init__(self, ended: Callable[[int], None]) -> None:
        self._ended = ended
        self._known: dict[int, list[Any]] = {}
        self._count = 0

    def find(self, tensor: torch.Tensor) -> tuple[int, bool]:
        """Return the number of a tensor's memory, and whether it had one."""
        storage = _storage(tensor)
        found = self._known.get(storage._cdata)
        if found is not None:
            return found[0], True
        number, key = self._count, storage._cdata
        self._count += 1
        ordinal = tensor.ordinal if isinstance(tensor, VirtualTensor) else -1
        watch = weakref.ref(storage, lambda _: self._forget(key, number))
        self._known[key] = [number, ordinal, storage.nbytes(), watch]
        return number, False

    def device(self, tensor: torch.Tensor) -> int:
        """Return the device that a tensor's memory is known to be on; −1 for the host's."""
        found = self._known.get(_storage(tensor)._cdata)
        return -1 if found is None else found[1]

    def moved(self, tensor: torch.Tensor, ordinal: int) -> None:
        """Note that memory counts as a device's from now on."""
        self._known[_storage(tensor)._cdata][1] = ordinal

    def grown(self, tensor: torch.Tensor, size: int) -> bool:
        """Whether memory has another size than it had."""
        found = self._known[_storage(tensor)._cdata]
        before, found[2] = found[2], size
        return bool(before != size)

    def _forget(self, key: int, number: int) -> None:
        found = self._known.get(key)
        if found is not None and found[0] == number:
            del self._known[key]
            self._ended(number)


def _storage(tensor: torch.Tensor) -> torch.UntypedStorage:
    if tensor.layout is not torch.strided or tensor.is_conj() or tensor.is_neg():
        raise UnwritableError(f"a tensor of layout {tensor.layout}, or a conjugate view")
    return tensor.untyped_storage()
