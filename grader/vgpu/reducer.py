"""How ``DistributedDataParallel`` makes the gradients of all ranks one."""

from __future__ import annotations

import functools
from typing import Any

import torch
import torch.distributed

from grader.vgpu import words
from grader.vgpu.machine import machine
from grader.vgpu.streams import current_stream
from grader.vgpu.tensor import ordinal_of, plain, relabel


def need_arithmetic() -> None:
    """Refuse exchanges where no elements are computed."""
    if not machine().arithmetic:
        raise words.unsupported("torch.distributed without arithmetic", "leave --no-arithmetic out")


def data_parallel(original: Any) -> Any:
    """Return a constructor of models whose gradients are exchanged where that is noted."""

    @functools.wraps(original)
    def __init__(self: Any, module: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        """Let a model on a device exchange its gradients where they are noted."""
        original(self, module, *args, **kwargs)
        ordinal = ordinal_of(next(module.parameters(), None))
        if ordinal is not None:
            need_arithmetic()
            machine().reducing = True
            reducer = _Reducer(self.process_group, ordinal)
            object.__setattr__(self, _REDUCER, reducer)
            torch._C._distributed_c10d._register_comm_hook(self.reducer, None, reducer.reduce)

    return __init__


_REDUCER = "_virtual_reducer"


class _Bucket:
    """Gradients as a hook gets them: on the device."""

    def __init__(self, bucket: Any, ordinal: int) -> None:
        self._bucket = bucket
        self._ordinal = ordinal

    def buffer(self) -> torch.Tensor:
        """Return all gradients in one row."""
        return relabel(self._bucket.buffer(), self._ordinal)

    def gradients(self) -> list[torch.Tensor]:
        """Return them one by one."""
        return [relabel(each, self._ordinal) for each in self._bucket.gradients()]

    def set_buffer(self, tensor: torch.Tensor) -> None:
        """Put others in their place."""
        self._bucket.set_buffer(plain(tensor))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bucket, name)


class _Reducer:
    """How a model's gradients become those of all ranks: as torch does it, or by a hook."""

    def __init__(self, group: Any, ordinal: int) -> None:
        self._group = group
        self._ordinal = ordinal
        self._hook: Any = None
        self._state: Any = None

    def hook(self, state: Any, hook: Any) -> None:
        """Have a hook do it."""
        self._state, self._hook = state, hook

    def reduce(self, _: Any, bucket: Any) -> Any:
        """Begin; the future has the bucket's new contents, on the host."""
        buffer = bucket.buffer()
        machine().blocks.hold(buffer.untyped_storage(), self._ordinal)
        if self._hook is None:
            gradients = relabel(buffer, self._ordinal)
            gradients.div_(self._group.size())
            work = torch.distributed.all_reduce(gradients, group=self._group, async_op=True)
            done = work.done
            torch.autograd.Variable._execution_engine.queue_callback(
                lambda: done.wait(current_stream(self._ordinal))
            )
            return work.get_future().then(lambda _: buffer)
        future = self._hook(self._state, _Bucket(bucket, self._ordinal))
        return future.then(lambda ended: plain(_only(ended.value())))


def _only(value: Any) -> Any:
    return value[0] if isinstance(value, (list, tuple)) else value


def own_hook(original: Any) -> Any:
    """Return what gives such a model a hook for its gradients."""

    @functools.wraps(original)
    def register_comm_hook(self: Any, state: Any, hook: Any) -> None:
        reducer = getattr(self, _REDUCER, None)
        if reducer is None:
            original(self, state, hook)
            return
        self._check_comm_hook(hook)
        reducer.hook(state, hook)

    return register_comm_hook
