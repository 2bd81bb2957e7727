"""What runs an operation: the arithmetic itself, on the host.

The one place to change for another way of running, with meta tensors for one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch

_drawing = threading.Lock()
_NoTorchDispatch = torch._C._DisableTorchDispatch

# A subclass's handler runs with these keys shut out, for its own tensors have passed them. But an
# operation made of others may make a conjugate view inside, whose elements would be taken as they
# lie. Only complex numbers have such views.
_LAZY = (torch._C.DispatchKey.Conjugate, torch._C.DispatchKey.Negative)
_shut_out = torch._C._dispatch_tls_set_dispatch_key_excluded


# Torch has two doors to the same kernels: the operation as the dispatcher hands it on, which reads
# its arguments by the schema, and the function of Python's own that a program calls, which is three
# times as fast. Those named here take the same arguments in the same order through both.
_FUNCTIONS = """
    _log_softmax _softmax abs add.Tensor addmm baddbmm bmm cat clone convolution cos detach
    div.Tensor eq.Scalar eq.Tensor exp expand gt.Scalar gt.Tensor log lt.Scalar lt.Tensor maximum
    mean mean.dim minimum mm mul.Tensor native_batch_norm native_layer_norm neg
    permute pow.Tensor_Scalar relu rsqrt select.int sigmoid sin sqrt sub.Tensor sum sum.dim_IntList
    t tanh transpose.int unsqueeze view where.self
    add_.Tensor addcdiv_ addcmul_ copy_ div_.Tensor fill_.Scalar lerp_.Scalar mul_.Tensor relu_
    sqrt_ sub_.Tensor zero_
"""


def _found() -> dict[Any, Callable[..., Any]]:
    """Return the operations with their functions, as far as this torch has them."""
    found = {}
    for word in _FUNCTIONS.split():
        name, _, overload = word.partition(".")
        operation = getattr(getattr(torch.ops.aten, name, None), overload or "default", None)
        # Not torch's modules: what is patched there names devices, and stands above all this.
        for owner in (torch._C._VariableFunctions, torch._C.TensorBase):
            function = getattr(owner, name, None)
            if operation is not None and function is not None:
                found[operation] = function
                break
    return found


_functions = _found()


def function_of(func: Any) -> Callable[..., Any]:
    """Return the fastest way to run an ATen operation."""
    found: Callable[..., Any] = _functions.get(func, func)
    return found


def execute(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, lazy: bool = False) -> Any:
    """Run an ATen operation on the elements themselves; device tensors go in as they are.

    Below this point nobody looks on: neither a tensor subclass nor a mode. The caller has shut out
    torch functions (``DisableTorchFunction``).

    Args:
        func: The operation, or its function.
        args: Its arguments.
        kwargs: Its named arguments.
        lazy: It may make conjugate views inside.
    """
    with _NoTorchDispatch():
        if not lazy:
            return func(*args, **kwargs)
        for key in _LAZY:
            _shut_out(key, False)
        try:
            return func(*args, **kwargs)
        finally:
            for key in _LAZY:
                _shut_out(key, True)


def execute_drawing(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], generator: torch.Generator
) -> Any:
    """Run an operation that draws from the default generator, with ``generator`` in its place."""
    usual = torch.default_generator
    with _drawing:
        state = usual.get_state()
        usual.set_state(generator.get_state())
        try:
            return execute(func, args, kwargs)
        finally:
            generator.set_state(usual.get_state())
            usual.set_state(state)
