"""Which functions of torch a submission calls, and which operations these come to.

All of it is said by the process that runs the submission: claims, which hostile code could forge.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from grader.vgpu.recording.recorder import LightMode

QUIET = frozenset({"__repr__", "__str__", "__format__"})
"""Printing a tensor looks at it element by element; that is no work of the function."""

ESCAPES = frozenset({
    "numpy", "tolist", "item", "data_ptr", "__dlpack__", "__array__", "untyped_storage", "storage",
    "_typed_storage", "__cuda_array_interface__", "__reduce_ex__", "__int__", "__float__",
    "__index__", "__bool__", "__complex__", "share_memory_", "const_data_ptr",
})  # fmt: skip
"""Ways for elements to leave torch."""

_REVERSALS = frozenset({"__reversed__", "flip", "flipud"})

IDLE = frozenset({
    "empty", "new_empty", "empty_like", "empty_strided", "new_empty_strided", "resize_",
    "lift_fresh", "detach", "alias", "set_",
})  # fmt: skip
"""Operations that compute nothing."""

_NUMBER = 16
"""Bytes of the longest number, a complex one."""

_PROPERTY = "__get__"


class FunctionCalls(TorchFunctionMode):
    """Counts calls of torch's functions by their own names, as the submission calls them.

    Not by ``torch.overrides.resolve_name``, which calls ``mm`` “spmm”. A function that torch's own
    Python code calls further down is not counted.

    Attributes:
        calls: Name → number.
        escapes: Name → number, of those by which elements leave torch.
        current: The function that is running, or empty.
        quiet: It prints a tensor, or reverses an index that is no argument of the call.
        log: What was done: name, work, memory read, memory written.
    """

    def __init__(self, inputs: Iterable[torch.Tensor]) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()
        self.escapes: Counter[str] = Counter()
        self.current = ""
        self.quiet = False
        self.log: list[tuple[str, int, set[int], set[int]]] = []
        self._inputs = frozenset(_memory(tensor) for tensor in inputs)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Count a call and make it."""
        before, tracing = (self.current, self.quiet), sys.gettrace()
        try:
            # Not by a context manager: this runs for each call of torch.
            sys.settrace(None)
            try:
                func = self._noted(func, args)
            finally:
                sys.settrace(tracing)
            return func(*args, **(kwargs or {}))
        finally:
            self.current, self.quiet = before

    def _noted(self, func: Callable[..., Any], args: tuple[Any, ...]) -> Callable[..., Any]:
        """Count a call that is about to be made; return what to call."""
        name = function_name(func)
        if name not in QUIET:
            # A list of tensors is printed one by one, which is no loop of the submission.
            self.calls[name] += 1
        if name in ESCAPES:
            self.escapes[name] += 1
            self.log.append((name, 0, memories(args), set()))
        self.current = name
        self.quiet = self.quiet or name in QUIET or self._reverses_an_index(name, args)
        # The same number, by a way that the dispatcher sees: a log then has it.
        return torch.Tensor.item if name == "tolist" and not args[0].dim() else func

    def _reverses_an_index(self, name: str, args: tuple[Any, ...]) -> bool:
        # ``reversed(index)`` flips the index, and is no flip of what was to be reversed. A copy of
        # that has other memory, too: an index is a row of whole numbers.
        if name not in _REVERSALS or not args or _memory(args[0]) in self._inputs:
            return False
        return bool(args[0].dim() <= 1 and not args[0].is_floating_point())


class Operations(LightMode):  # type: ignore[no-untyped-call]
    """Counts what reaches the dispatcher.

    Attributes:
        ops: ATen name → number.
        under: ATen name → the functions through which it was reached.
        greatest: Bytes of the greatest tensor that was computed.
        bare: Number of operations that no Python call asked for, as in a scripted loop.
    """

    def __init__(self, calls: FunctionCalls) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.ops: Counter[str] = Counter()
        self.under: dict[str, set[str]] = {}
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
        tracing = sys.gettrace()
        if func.namespace == "aten":
            # Nothing below is the submission's, and being traced costs more than the operation.
            sys.settrace(None)
        try:
            # The function mode is still in force for what no Python function asked for, a scripted
            # loop's operations for one, and would take them for calls.
            with torch._C.DisableTorchFunction():
                result = func(*args, **(kwargs or {}))
                if not self._calls.quiet:
                    sys.settrace(None)
                    self.note(func, args, kwargs or {}, result)
        finally:
            sys.settrace(tracing)
        return result

    def note(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """Count an operation that has run."""
        name, current = _name(func), self._calls.current
        counted = name + _variant(name, (*args, *kwargs.values()))
        self.under.setdefault(counted, set()).add(current)
        self.bare += not current and counted not in IDLE
        self.ops[counted] += 1
        if not func.is_view:
            # Each value is walked once: this runs for each operation.
            read, made = list(_tensors(args)), list(_tensors(result))
            work = 0 if name in IDLE else self._weigh(name, args, read, made)
            read += _tensors(tuple(kwargs.values()))
            self._calls.log.append((name, work, _places(read), _places(made)))

    def _weigh(
        self,
        name: str,
        args: tuple[Any, ...],
        read: list[torch.Tensor],
        made: list[torch.Tensor],
    ) -> int:
        """Return the multiplications of a product, or the elements that all else goes through."""
        for tensor in made:
            self.greatest = max(self.greatest, tensor.numel() * tensor.element_size())
        product = _PRODUCTS.get(name)
        if product is not None:
            return product(args)
        return max((tensor.numel() for tensor in (*made, *read)), default=0)


@cache
def _name(func: Any) -> str:
    return str(func.overloadpacket.__name__)


def _variant(name: str, given: tuple[Any, ...]) -> str:
    """Return what is added to a name: that it reduces by a mean, or writes one number."""
    if any(type(item) is str and item == "mean" for item in given):
        return ".mean"
    place = 2 if name.startswith("index_put") else 1
    if not name.startswith(("index_put", "copy_")) or len(given) <= place:
        return ""
    written = given[place]
    # A number is a tensor of its own by now; an entry of another tensor shares that one's memory.
    alone = isinstance(written, torch.Tensor) and not written.dim() and _bytes(written) <= _NUMBER
    return ".number" if alone else ""


def _bytes(tensor: torch.Tensor) -> int:
    try:
        return tensor.untyped_storage().nbytes()
    except (RuntimeError, NotImplementedError):
        return _NUMBER + 1


def function_name(func: Callable[..., Any]) -> str:
    """Return a function's own name; of a property, the property's."""
    name = str(getattr(func, "__name__", "unknown"))
    if name == _PROPERTY:
        name = str(getattr(getattr(func, "__self__", None), "__name__", name))
    return name.split(".", maxsplit=1)[0][:80]


def _memory(tensor: Any) -> int:
    try:
        return int(tensor.untyped_storage().data_ptr())
    # Sparse tensors and some wrappers have no storage to ask for.
    except (RuntimeError, NotImplementedError, AttributeError):
        return 0


def memories(value: Any) -> set[int]:
    """Return where the tensors in a value lie; of those that can be asked."""
    return _places(_tensors(value))


def _places(tensors: Iterable[torch.Tensor]) -> set[int]:
    return {_memory(tensor) for tensor in tensors} - {0}


def _tensors(value: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        # Of a sparse tensor what lies in memory; its shape tells of entries that are nowhere.
        values = "_values" if value.is_sparse else "values"
        dense = value.layout is torch.strided or value.is_mkldnn
        yield value if dense else getattr(value, values)()
    elif isinstance(value, (tuple, list)) and depth < 3:
        for item in value:
            yield from _tensors(item, depth + 1)


def _matrices(first: int) -> Callable[[tuple[Any, ...]], int]:
    # Elements of the first factor times columns of the second.
    return lambda args: _vectors(first)(args) * int(args[first + 1].shape[-1])


def _vectors(first: int) -> Callable[[tuple[Any, ...]], int]:
    return lambda args: next(_tensors(args[first])).numel()


_PRODUCTS: dict[str, Callable[[tuple[Any, ...]], int]] = {
    "mm": _matrices(0), "bmm": _matrices(0), "_int_mm": _matrices(0),
    "addmm": _matrices(1), "baddbmm": _matrices(1), "addbmm": _matrices(1),
    "mv": _vectors(0), "dot": _vectors(0), "vdot": _vectors(0), "addmv": _vectors(1),
}  # fmt: skip
