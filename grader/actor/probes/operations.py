"""What reaches torch's dispatcher, and through which functions: counts, work, greatest result."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from grader.actor.probes.names import ESCAPES, IDLE, QUIET

_PROPERTY = "__get__"


class FunctionCalls(TorchFunctionMode):
    """Counts calls of torch's functions by their own names, as the hand-in calls them.

    Not by ``torch.overrides.resolve_name``, which calls ``mm`` “spmm”. A function that torch's own
    Python code calls further down is not counted.

    Attributes:
        calls: Name → number.
        escapes: Name → number, of those by which elements leave torch.
        current: The function that is running, or empty.
        quiet: It prints a tensor, or reverses one that is no argument of the call.
    """

    def __init__(self, inputs: Iterable[torch.Tensor]) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()
        self.escapes: Counter[str] = Counter()
        self.current = ""
        self.quiet = False
        self._inputs = frozenset(_memory(tensor) for tensor in inputs)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Count a call and make it."""
        name = function_name(func)
        if name not in QUIET:
            # A list of tensors is printed one by one, which is no loop of the hand-in.
            self.calls[name] += 1
        if name in ESCAPES:
            self.escapes[name] += 1
        before = self.current, self.quiet
        self.current = name
        self.quiet = self.quiet or name in QUIET or self._reverses_an_index(name, args)
        try:
            return func(*args, **(kwargs or {}))
        finally:
            self.current, self.quiet = before

    def _reverses_an_index(self, name: str, args: tuple[Any, ...]) -> bool:
        # ``reversed(index)`` flips the index, and is no flip of what was to be reversed.
        return name == "__reversed__" and _memory(args[0]) not in self._inputs


class Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts what reaches the dispatcher.

    Attributes:
        ops: ATen name → number.
        under: ATen name → the functions through which it was reached.
        work: Multiplications of products, and elements read or written by all else.
        greatest: Bytes of the greatest tensor that was computed.
        bare: Number of operations that no Python call asked for, as in a scripted loop.
    """

    def __init__(self, calls: FunctionCalls) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.ops: Counter[str] = Counter()
        self.under: dict[str, set[str]] = {}
        self.work = 0
        self.greatest = 0
        self.bare = 0
        self._calls = calls

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run an operation, and count it."""
        # The function mode is still in force for what no Python function asked for, a scripted
        # loop's operations for one, and would take them for calls.
        with torch._C.DisableTorchFunction():
            result = func(*args, **(kwargs or {}))
            if not self._calls.quiet:
                name = str(func.overloadpacket.__name__)
                self._count(name + _variant(name, (*args, *(kwargs or {}).values())))
                if not func.is_view and name not in IDLE:
                    self._weigh(name, args, result)
        return result

    def _count(self, name: str) -> None:
        calls = self._calls
        self.under.setdefault(name, set()).add(calls.current)
        self.bare += not calls.current and name not in IDLE
        self.ops[name] += 1

    def _weigh(self, name: str, args: tuple[Any, ...], result: Any) -> None:
        made = list(_tensors(result))
        self.greatest = max([self.greatest, *(t.numel() * t.element_size() for t in made)])
        product = _PRODUCTS.get(name)
        if product is not None:
            self.work += product(args)
        else:
            self.work += max([0, *(t.numel() for t in (*made, *_tensors(args)))])


def _variant(name: str, given: tuple[Any, ...]) -> str:
    """Return what is added to a name: that it reduces by a mean, or writes one number."""
    if any(type(item) is str and item == "mean" for item in given):
        return ".mean"
    written = given[2] if name.startswith("index_put") and len(given) > 2 else None
    return ".number" if isinstance(written, torch.Tensor) and not written.dim() else ""


def function_name(func: Callable[..., Any]) -> str:
    """Return a function's own name; of a property, the property's."""
    name = str(getattr(func, "__name__", "unknown"))
    if name == _PROPERTY:
        name = str(getattr(getattr(func, "__self__", None), "__name__", name))
    return name.split(".", maxsplit=1)[0][:80]


def _memory(tensor: Any) -> int:
    try:
        return int(tensor.untyped_storage().data_ptr())
    except (RuntimeError, NotImplementedError, AttributeError):
        return 0


def _tensors(value: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)) and depth < 3:
        for item in value:
            yield from _tensors(item, depth + 1)


def _matrices(first: int) -> Callable[[tuple[Any, ...]], int]:
    """Multiplications of a product of args[first] and the next: elements times columns."""
    return lambda args: int(args[first].numel() * args[first + 1].shape[-1])


def _vectors(first: int) -> Callable[[tuple[Any, ...]], int]:
    return lambda args: math.prod(args[first].shape)


_PRODUCTS: dict[str, Callable[[tuple[Any, ...]], int]] = {
    "mm": _matrices(0), "bmm": _matrices(0), "_int_mm": _matrices(0),
    "addmm": _matrices(1), "baddbmm": _matrices(1), "addbmm": _matrices(1),
    "mv": _vectors(0), "dot": _vectors(0), "vdot": _vectors(0), "addmv": _vectors(1),
}  # fmt: skip
