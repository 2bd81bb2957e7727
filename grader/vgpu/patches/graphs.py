"""CUDA graphs: operations that are recorded once and then run again on the same tensors.

While a graph is captured a GPU computes nothing. Here each operation runs as it is recorded, for
the program goes on with what it returns; what it changed in tensors that were there before is put
back at the end. A replay runs the operations again, in order, and writes into the tensors of the
first time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from types import TracebackType
from typing import Any

import torch
import torch.cuda.graphs

from grader.vgpu.core.dispatch import run
from grader.vgpu.core.machine import Machine, machine
from grader.vgpu.core.tensor import VirtualTensor, plain, tensors_in
from grader.vgpu.patches import Patches, unsupported
from grader.vgpu.patches.streams import Stream, StreamContext

_pools = count(1)


@dataclass(frozen=True, slots=True)
class _Step:
    """An operation, its arguments and what it returned the first time."""

    func: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any

    def again(self) -> None:
        """Run it on the same tensors, and write into those that it returned."""
        found = run(self.func, self.args, self.kwargs)
        for old, new in zip(tensors_in((self.result,)), tensors_in((found,)), strict=True):
            # Written in place, the result is the very tensor of the first time.
            if old is not new:
                plain(old).copy_(plain(new))


@dataclass(frozen=True, slots=True)
class _Filled:
    """A tensor that a factory made, and what it put there."""

    tensor: VirtualTensor
    contents: torch.Tensor

    def again(self) -> None:
        """Fill it anew."""
        plain(self.tensor).copy_(self.contents)


class CUDAGraph:
    """Stands for ``torch.cuda.CUDAGraph``."""

    def __init__(self, keep_graph: bool = False) -> None:
        self._steps: list[_Step | _Filled] = []
        self._before: dict[int, tuple[Any, torch.Tensor]] = {}
        self._made: set[int] = set()
        self._states: list[torch.Tensor] = []
        self._pool = (0, next(_pools))
        self._ready = False

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        """Begin to record; everything else that this thread does on devices is recorded too."""
        here = machine()
        if here.local.capture is not None:
            raise RuntimeError("a CUDA graph is being captured already in this thread")
        self._pool = pool or self._pool
        # The operations of a capture do run, and draw: the first replay must draw the same again.
        self._states = [generator.get_state() for generator in here.generators]
        here.local.capture = self
        VirtualTensor.run = staticmethod(_captured)

    def capture_end(self) -> None:
        """Put back what was changed: a GPU has only taken notes so far."""
        here = machine()
        _release(here)
        for storage, kept in self._before.values():
            _contents(storage).copy_(kept)
        for generator, state in zip(here.generators, self._states, strict=True):
            generator.set_state(state)
        self._before.clear()
        self._ready = True

    def replay(self) -> None:
        """Run what was recorded."""
        if not self._ready:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        # What was recorded had passed autograd: run above it, it would pass a second time.
        with torch.no_grad(), torch._C._AutoDispatchBelowAutograd():
            for step in self._steps:
                step.again()

    def reset(self) -> None:
        """Forget what was recorded."""
        self._steps.clear()
        self._ready = False

    def pool(self) -> tuple[int, int]:
        """Return the handle of the graph's memory."""
        return self._pool

    def instantiate(self) -> None:
        """Do nothing: there is nothing to prepare."""

    def enable_debug_mode(self) -> None:
        """Do nothing."""

    def debug_dump(self, debug_path: str) -> None:
        """Refuse: there is no CUDA graph to draw."""
        raise unsupported("CUDAGraph.debug_dump")

    def record(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run an operation and take it down."""
        # Before it runs: afterwards what was there is lost.
        for tensor in _written(func, args, kwargs):
            self._keep(tensor)
        result = run(func, args, kwargs)
        # A view looks at the same memory: made again, it would change nothing.
        if not func.is_view:
            self._steps.append(_Step(func, args, kwargs, result))
            self._made.update(each.untyped_storage()._cdata for each in tensors_in((result,)))
        return result

    def fill(self, name: str, tensor: VirtualTensor) -> None:
        """Take down that a factory filled a new tensor, such as ``torch.zeros``."""
        # Fillings are repeated as they are: each replay would give the same numbers.
        if name.startswith("rand") or name == "normal":
            raise unsupported(
                f"torch.{name} inside a CUDA graph", "draw into a tensor, Tensor.normal_()"
            )
        self._made.add(tensor.untyped_storage()._cdata)
        if not name.startswith("empty"):
            self._steps.append(_Filled(tensor, plain(tensor).clone()))

    def _keep(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        if storage._cdata not in self._made and storage._cdata not in self._before:
            # The storage is kept along: its address must not become another's during the capture.
            self._before[storage._cdata] = storage, _contents(storage).clone()


def _contents(storage: torch.UntypedStorage) -> torch.Tensor:
    with torch._C._DisableTorchDispatch():
        return torch.empty(0, dtype=torch.uint8, device="cpu").set_(storage)


def _written(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[torch.Tensor]:
    """Yield the tensors that an operation writes to."""
    for place, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[place] if place < len(args) else kwargs.get(argument.name)
            yield from tensors_in((value,))


def _captured(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    capture = machine().local.capture
    return run(func, args, kwargs) if capture is None else capture.record(func, args, kwargs)


def _release(here: Machine) -> None:
    here.local.capture = None
    VirtualTensor.run = staticmethod(run)


class graph:  # noqa: N801
    """Stands for ``torch.cuda.graph``: captures what is done inside."""

    def __init__(
        self, cuda_graph: CUDAGraph, pool: Any = None, stream: Stream | None = None, **_: Any
    ) -> None:
        self._graph = cuda_graph
        self._pool = pool
        self._context = StreamContext(stream or Stream())

    def __enter__(self) -> None:
        self._context.__enter__()
        self._graph.capture_begin(self._pool)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._graph.capture_end()
        else:
            _release(machine())
        self._context.__exit__(kind, error, trace)


def graph_pool_handle() -> tuple[int, int]:
    """Return a handle of memory that graphs share."""
    return (0, next(_pools))


def patch_graphs(patches: Patches) -> None:
    """Let ``torch.cuda`` capture graphs."""
    for name, value in {
        "CUDAGraph": CUDAGraph,
        "graph": graph,
        "graph_pool_handle": graph_pool_handle,
        "is_current_stream_capturing": lambda: machine().local.capture is not None,
    }.items():
        for module in (torch.cuda, torch.cuda.graphs):
            if hasattr(module, name):
                patches.set(module, name, value)
