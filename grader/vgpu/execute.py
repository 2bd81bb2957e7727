"""What runs an operation: the arithmetic itself, on the host.

The one place to change for another way of running, with meta tensors for one.
"""

from __future__ import annotations

import threading
from typing import Any

import torch

_drawing = threading.Lock()

# A subclass's handler runs with these keys shut out, for its own tensors have passed them. But an
# operation made of others may make a conjugate view inside, whose elements would be taken as they
# lie. Only complex numbers have such views.
_LAZY = (torch._C.DispatchKey.Conjugate, torch._C.DispatchKey.Negative)
_shut_out = torch._C._dispatch_tls_set_dispatch_key_excluded


def execute(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, lazy: bool = False) -> Any:
    """Run an ATen operation on the elements themselves; device tensors go in as they are.

    Below this point nobody looks on: neither a tensor subclass nor a mode.

    Args:
        func: The operation.
        args: Its arguments.
        kwargs: Its named arguments.
        lazy: It may make conjugate views inside.
    """
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
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
