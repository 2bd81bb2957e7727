"""Shapes without elements, ``FakeTensorMode``'s: they say which device they would be on.

Autograd on a CPU build ends the process where C++ says ``cuda``. So C++ is told the host, and
Python, which is what a program and the mode itself ask, the device.
"""

from __future__ import annotations

import inspect
from typing import Any, cast

import torch
from torch._subclasses import fake_tensor

from grader.vgpu.core.device import ordinal_from
from grader.vgpu.core.machine import HOST
from grader.vgpu.patches import Patches

_ASKS: Any = torch.ops.prim.device.default
_COPY_OF_GRADIENT: Any = torch.ops.aten.new_empty_strided.default
_HANDLERS = "_DISPATCH_META_HANDLERS"


def _made(original: Any) -> Any:
    parameters = inspect.signature(original)

    def make(*args: Any, **kwargs: Any) -> Any:
        given = parameters.bind(*args, **kwargs)
        device = given.arguments.get("device")
        ordinal = None if device is None else ordinal_from(device)
        if ordinal is None:
            return original(*args, **kwargs)
        given.arguments["device"] = torch.device(HOST)
        made = original(*given.args, **given.kwargs)
        made.fake_device = torch.device("cuda", ordinal)
        return made

    return staticmethod(make)


def _for_autograd(device: Any) -> Any:
    on_device = isinstance(device, torch.device) and device.type == "cuda"
    return torch.device(HOST) if on_device else device


def _dispatched(original: Any) -> Any:
    def dispatch(
        cls: type, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run an operation; what C++ hears of a device is the host."""
        result = original.__func__(cls, func, types, args, {} if kwargs is None else kwargs)
        return _for_autograd(result) if func is _ASKS else result

    return classmethod(dispatch)


def _asked(original: Any) -> Any:
    return lambda args: _for_autograd(original(args))


def _in_backward(original: Any) -> Any:
    def dispatch(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation of the mode; a gradient's copy is made where the gradient is."""
        if (
            func is _COPY_OF_GRADIENT
            and torch._C._current_graph_task_id() >= 0
            and isinstance(args[0], fake_tensor.FakeTensor)
        ):
            # Autograd names the device that C++ hears of.
            kwargs = {**kwargs, "device": args[0].fake_device}
        return original(self, func, types, args, kwargs)

    return dispatch


def _common(original: Any) -> Any:
    def find_common_device(func: Any, flat_args: Any) -> Any:
        """Find where an operation is; a shape of C++'s own is where the others are."""
        try:
            return original(func, flat_args)
        except RuntimeError:
            faked = [each for each in flat_args if isinstance(each, fake_tensor.FakeTensor)]
            devices = {each.device for each in faked} - {torch.device(HOST)}
            if torch._C._current_graph_task_id() < 0 or len(devices) != 1:
                raise
            return devices.pop(), False

    return staticmethod(find_common_device)


class _FakeMove(torch.autograd.Function):
    """A move of shapes, known to autograd."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, device: torch.device) -> torch.Tensor:
        ctx.home = tensor.fake_device
        return _relabelled(tensor, device)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return _relabelled(gradients[0], ctx.home), None


def _relabelled(tensor: Any, device: torch.device) -> torch.Tensor:
    moved = tensor.clone()
    moved.fake_device = device
    return cast("torch.Tensor", moved)


def move_shape(tensor: Any, ordinal: int | None) -> torch.Tensor:
    """Return a shape as one on a device (None: on the host); there is nothing to copy."""
    device = torch.device(HOST) if ordinal is None else torch.device("cuda", ordinal)
    if tensor.fake_device == device:
        return cast("torch.Tensor", tensor)
    if tensor.requires_grad and torch.is_grad_enabled():
        return cast("torch.Tensor", _FakeMove.apply(tensor, device))  # type: ignore[no-untyped-call]
    return _relabelled(tensor, device)


def shape_on(made: Any, ordinal: int) -> Any:
    """Let a new shape say which device it would be on; return it."""
    if isinstance(made, fake_tensor.FakeTensor):
        made.fake_device = torch.device("cuda", ordinal)
    return made


def _get_device(self: Any) -> int:
    return -1 if self.device.index is None else int(self.device.index)


def patch_faked(patches: Patches) -> None:
    """Let such shapes say their device in Python."""
    kind: Any = fake_tensor.FakeTensor
    patches.set(kind, "__new__", _made(kind.__new__))
    patches.set(kind, "__torch_dispatch__", _dispatched(kind.__torch_dispatch__))
    handlers = getattr(fake_tensor, _HANDLERS, {})
    if _ASKS in handlers:
        patches.set(fake_tensor, _HANDLERS, {**handlers, _ASKS: _asked(handlers[_ASKS])})
    patches.wrap(fake_tensor.FakeTensorMode, "dispatch", _in_backward)
    patches.set(kind, "_find_common_device", _common(kind._find_common_device))
    patches.set(kind, "is_cuda", property(lambda self: self.device.type == "cuda"))
    patches.set(kind, "is_cpu", property(lambda self: self.device.type == HOST))
    patches.set(kind, "get_device", _get_device)
