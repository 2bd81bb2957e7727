"""The same trace from real GPUs: operations as the dispatcher sees them, memory as torch counts it.

Operations that autograd runs in threads of its own are seen too, for it takes the dispatch modes
along. What a library does below the dispatcher is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, ClassVar

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from grader.vgpu.dispatch import _WAITS, _WITHOUT_KERNEL
from grader.vgpu.flops import flops_of
from grader.vgpu.summary import Held, Summary, summarise
from grader.vgpu.trace import Event, Kernel, Synchronisation, Transfer
from grader.wire.values import Value

_COPIES = frozenset({"_to_copy", "copy_", "_copy_from"})
_EMPTY = frozenset({"empty", "empty_strided"})


class Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes every operation with the device that it ran on.

    Args:
        device_of: Tells where a tensor is.
    """

    def __init__(self, device_of: Callable[[torch.Tensor], str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.events: list[Event] = []
        self._device_of = device_of

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run an operation, and note it."""
        result = func(*args, **(kwargs or {}))
        name = str(func.overloadpacket.__name__)
        given, made = list(_tensors((args, kwargs or {}))), list(_tensors(result))
        if name in _COPIES and made and given and self._copied(given, made[0]):
            return result
        if name in _WAITS and given:
            self.events.append(Synchronisation(self._device_of(given[0]), _WAITS[name]))
        if not (func.is_view or name in _WITHOUT_KERNEL or name in _EMPTY) and (made or given):
            device = self._device_of((made or given)[0])
            size = sum(item.numel() * item.element_size() for item in (*given, *made))
            greatest = max(item.numel() for item in (*given, *made))
            # A factory computes nothing.
            flops = flops_of(name, args, result, greatest) if given else 0
            self.events.append(Kernel(name, device, flops, size))
        return result

    def _copied(self, given: list[torch.Tensor], made: torch.Tensor) -> bool:
        """Note a copy from one device to another; False where it is none."""
        # ``copy_`` gets its target first, and returns it.
        origin = next((item for item in given if item is not made), made)
        source, target = self._device_of(origin), self._device_of(made)
        if source == target:
            return False
        size = origin.numel() * origin.element_size()
        parameter = isinstance(origin, torch.nn.Parameter)
        self.events.append(
            Transfer(source, target, size, True, tuple(origin.shape), parameter=parameter)
        )
        return True


class Recorder:
    """A context in which everything on real GPUs is noted; one may stand inside another."""

    _open: ClassVar[list[Recorder]] = []

    def __init__(self) -> None:
        self._operations = Operations(lambda tensor: str(tensor.device))
        self._before: dict[int, tuple[int, int, int]] = {}
        self._peaks: dict[int, int] = {}
        self._held: dict[str, Held] = {}

    def __enter__(self) -> Recorder:
        for ordinal in range(torch.cuda.device_count()):
            _synchronise(ordinal)
            for other in Recorder._open:
                other._look(ordinal)
            torch.cuda.reset_peak_memory_stats(ordinal)
            self._before[ordinal] = _statistics(ordinal)
        Recorder._open.append(self)
        self._operations.__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._operations.__exit__(kind, error, trace)  # type: ignore[no-untyped-call]
        Recorder._open.remove(self)
        for ordinal, (live, blocks, size) in self._before.items():
            _synchronise(ordinal)
            self._look(ordinal)
            now, all_blocks, all_size = _statistics(ordinal)
            peak = self._peaks[ordinal]
            limit = torch.cuda.get_device_properties(ordinal).total_memory
            taken = all_blocks - blocks, all_size - size
            self._held[f"cuda:{ordinal}"] = Held(live, now, peak, limit, *taken)

    def report(self) -> dict[Value, Value]:
        """Return what happened, once the context is left."""
        return self.summary().report(self._held, real=True)

    def summary(self) -> Summary:
        """Return the operations added up."""
        return summarise(self._operations.events)

    def _look(self, ordinal: int) -> None:
        """Remember the peak, which another recorder is about to reset."""
        peak = torch.cuda.max_memory_allocated(ordinal)
        self._peaks[ordinal] = max(peak, self._peaks.get(ordinal, 0))


def _statistics(ordinal: int) -> tuple[int, int, int]:
    """Return bytes live, and blocks and bytes ever taken."""
    told = torch.cuda.memory_stats(ordinal)
    names = ("allocated_bytes.all.current", "allocation.all.allocated",
             "allocated_bytes.all.allocated")  # fmt: skip
    live, blocks, size = (int(told.get(name, 0)) for name in names)
    return live, blocks, size


def _synchronise(ordinal: int) -> None:
    torch.cuda.synchronize(ordinal)


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)
