"""Write ``grader/checks/spellings.json`` from torch: ``python tests/torch_spellings.py --write``.

What reaches the dispatcher comes from torch's schemas; what a function is called for torch's modes
is found by calling it under one.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from grader.student_process.operations import function_name

FILE = Path(__file__).parents[1] / "grader" / "checks" / "spellings.json"
SPACES = {
    "torch": torch,
    "torch.nn.functional": torch.nn.functional,
    "torch.linalg": torch.linalg,
    "torch.special": torch.special,
    "torch.fft": torch.fft,
}
_ABOUT = frozenset(
    {"__index__", "__len__", "__format__", "__repr__", "__int__", "__dlpack_device__"}
)
_TRIED = (
    (), (0,), (1.0,), (0, 1), ((4, 4),), ([1],), (torch.float64,), (0, 0, 2),
    (torch.ones(4, 4),), (torch.ones(4),), (torch.ones(4, 4), torch.ones(4, 4)),
    (0, torch.tensor([0, 1])), (torch.ones(4, 4), 1.0),
)  # fmt: skip
_TRIED_ON_BATCHES = ((), ([1],))
_NOT_TRIED = re.compile(
    "_|set_|init|is_|get_|has_|handle_|import_|parse_|merge_|unify_|fork|wait|manual_seed|seed|sym_|"
    ".*compile|.*default|typename|lobpcg|.*lowrank|cond$|backward|share_memory|storage|resize|"
    "apply_|map|register|cuda|xpu|ipu|hpu|mtia"
)


class _First(TorchFunctionMode):
    """Notes the first function that torch's modes are told of."""

    def __init__(self) -> None:
        super().__init__()
        self.name = ""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        name = function_name(func)
        self.name = self.name or ("" if name in _ABOUT else name)
        return func(*args, **(kwargs or {}))


def by_dispatch() -> tuple[set[str], set[str]]:
    """Return the ATen operations that reach the dispatcher, and those that are made of others."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    dispatched, composite = set(), set()
    for full in torch._C._dispatch_get_all_op_names():
        space, _, name = full.partition("::")
        if space == "aten":
            made = has(full, "CompositeImplicitAutograd")
            (composite if made else dispatched).add(name.partition(".")[0])
    return dispatched, composite - dispatched


def callables(space: ModuleType | type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public functions of a module, or methods of a class, that can be tried."""
    for name in dir(space):
        found = getattr(space, name, None)
        kept_out = _NOT_TRIED.match(name) or isinstance(found, (type, ModuleType))
        if not kept_out and callable(found):
            yield name, found


def told_as(function: Callable[..., Any]) -> str:
    """Return the name under which torch's modes are told of a function; empty if of none."""
    for shape, tried in (((4, 4), _TRIED), ((1, 4, 4), _TRIED_ON_BATCHES)):
        for more in tried:
            # Not singular: what factors a matrix raises for one that is.
            matrix = (torch.ones(4, 4) + torch.eye(4)).reshape(shape)
            with _First() as mode:
                try:
                    function(matrix, *more)
                except Exception:  # noqa: BLE001  not called that way
                    continue
            if mode.name:
                return mode.name
    return ""


def functions() -> dict[str, list[str]]:
    """Return the functions that torch's modes are told of by another name than their own."""
    found: dict[str, set[str]] = {}
    for space in (torch.Tensor, *SPACES.values()):
        for name, function in callables(space):
            told = told_as(function)
            if told and told.rstrip("_") != name.rstrip("_"):
                found.setdefault(name, set()).add(told)
    return {name: sorted(told) for name, told in sorted(found.items())}


def modules() -> dict[str, list[str]]:
    """Return the functions that each class of ``torch.nn`` calls when it is called."""
    found = {}
    for name, kind in inspect.getmembers(torch.nn, inspect.isclass):
        if issubclass(kind, torch.nn.Module):
            parts = kind.__mro__[: kind.__mro__.index(torch.nn.Module)]
            text = "".join(map(inspect.getsource, parts))
            if used := set(re.findall(r"\bF\.([a-z]\w+)\(", text)):
                found[name] = sorted(used)
    return found


def others(known: set[str]) -> list[str]:
    """Return the public names of torch that its schemas do not have."""
    spaces = (
        torch.Tensor, *SPACES.values(), torch.nn, torch.func, torch.autograd,
        torch.autograd.functional, torch.autograd.forward_ad, torch.autograd.graph,
    )  # fmt: skip
    # Which modules are loaded differs from one process to another.
    names = {
        name
        for space in spaces
        for name in dir(space)
        if name[:1] != "_" and not isinstance(getattr(space, name, None), ModuleType)
    }
    return sorted(names - known)


def content() -> dict[str, Any]:
    """Return the whole table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dispatched, composite = by_dispatch()
        return {
            "torch": torch.__version__.split("+")[0],
            "dispatched": sorted(dispatched),
            "composite": sorted(composite),
            "others": others(dispatched | composite),
            "functions": functions(),
            "modules": modules(),
        }


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    FILE.write_text(json.dumps(content(), indent=0) + "\n", encoding="utf-8")
