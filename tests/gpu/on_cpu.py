"""The same programs where every device is the host: what their values should be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class EveryDeviceIsTheHost(TorchFunctionMode):
    """Makes ``cuda`` mean the host, and a move a copy.

    Only what names a device in a call of torch's is understood; ``torch.cuda`` is not.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if kwargs.get("device") is not None:
            kwargs["device"] = "cpu"
        if func is torch.Tensor.cuda:
            return args[0].clone()
        if func is torch.Tensor.to and len(args) > 1 and _names_device(args[1]):
            args = (args[0], "cpu", *args[2:])
            kwargs["copy"] = True
        return func(*args, **kwargs)


def _names_device(value: Any) -> bool:
    return isinstance(value, (str, int, torch.device)) and not isinstance(value, bool)


def tensors(outcome: Any) -> Iterator[dict[str, Any]]:
    """Yield the tensors in an outcome in order, all but where they are."""
    if isinstance(outcome, dict):
        if "values" in outcome:
            yield {name: item for name, item in outcome.items() if name != "device"}
        else:
            for item in outcome.values():
                yield from tensors(item)
    elif isinstance(outcome, list):
        for item in outcome:
            yield from tensors(item)
