"""What is counted while a submission's function runs, in calls made for nothing else.

All of it is said by the process that runs the submission: claims, which hostile code could forge.
"""

from __future__ import annotations

import math
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import CodeType, FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from grader.wire.values import Value

QUIET = frozenset({"__repr__", "__str__", "__format__"})
"""Printing a tensor looks at it element by element; that is no work of the function."""

ESCAPES = frozenset({
    "numpy", "tolist", "item", "data_ptr", "__dlpack__", "__array__", "untyped_storage", "storage",
    "_typed_storage", "__cuda_array_interface__", "__reduce_ex__", "__int__", "__float__",
    "__index__", "__bool__", "__complex__", "share_memory_", "const_data_ptr",
})  # fmt: skip
"""Ways for elements to leave torch."""

IDLE = frozenset({
    "empty", "new_empty", "empty_like", "empty_strided", "new_empty_strided", "resize_",
    "lift_fresh", "detach", "alias", "set_",
})  # fmt: skip
"""Operations that compute nothing."""

MAX_EVENTS = 100_000
"""Events after which enough is known; the call is then ended from inside."""

_NUMBER = 16
"""Bytes of the longest number, a complex one."""

# Text that libraries compile from no file: counted, it would be a loop that no student wrote.
_LIBRARY = ("<frozen", "<__array_function__", "<eval_with_key", "<torch")
# Python gives 0, 1, 2 and 5 to debuggers, coverage, profilers and optimizers.
_TOOL = 4


class Enough(BaseException):
    """Ends a call that has run more lines than will be counted; not an error."""


class Lines:
    """A context in which lines of the submission are counted; so is every entry into its functions.

    Text that a submission runs by ``exec`` is its own too: whatever was compiled from no file.

    Args:
        files: Path of a submitted file → what to call it.
        printing: Tells whether a tensor is being printed: torch has text of its own for that.

    Attributes:
        events: Lines run and functions entered.
        lines: File, as it is called → numbers of its lines that ran.
        others: Threads that ran already: what they ask of torch cannot be watched.
    """

    def __init__(self, files: Mapping[str, str], printing: Callable[[], bool]) -> None:
        self._files = files
        self._printing = printing
        self._own: dict[CodeType, bool] = {}
        self._before: Any = None
        self.events = 0
        self.lines: dict[str, set[int]] = {name: set() for name in ("", *files.values())}
        self.others = 0
        self.capped = False

    def __enter__(self) -> Lines:
        self.others = threading.active_count() - 1
        if sys.version_info >= (3, 12):
            self._monitor(sys.monitoring)
        else:
            self._before = sys.gettrace()
            # Both: this one is for threads that are yet to start, the other for the thread that
            # calls.
            threading.settrace(self._trace)
            sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        if sys.version_info >= (3, 12):
            sys.monitoring.set_events(_TOOL, 0)
            sys.monitoring.free_tool_id(_TOOL)
        else:
            sys.settrace(self._before)
            threading.settrace(None)

    def _is_own(self, code: CodeType) -> bool:
        known = self._own.get(code)
        if known is None:
            name = code.co_filename
            known = name in self._files or (name.startswith("<") and not name.startswith(_LIBRARY))
            self._own[code] = known
        return known

    def _note(self, code: CodeType, line: int) -> None:
        if code.co_filename.startswith("<") and self._printing():
            return
        self.events += 1
        if not code.co_filename.startswith("<"):
            self.lines[self._files[code.co_filename]].add(line)
        # Once: raised at every further line, it would break the submission's own clean-up.
        if self.events > MAX_EVENTS and not self.capped:
            self.capped = True
            raise Enough

    # -- 3.10 and 3.11 ------------------------------------------------------------------------

    def _trace(self, frame: FrameType, _: str, __: Any) -> Any:
        if not self._is_own(frame.f_code):
            return None
        self._note(frame.f_code, frame.f_lineno)
        return self._line

    def _line(self, frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            self._note(frame.f_code, frame.f_lineno)
        return self._line

    # -- 3.12 and later -----------------------------------------------------------------------

    def _monitor(self, monitoring: Any) -> None:
        events = monitoring.events
        monitoring.use_tool_id(_TOOL, "lines")
        monitoring.register_callback(_TOOL, events.LINE, self._at_line)
        # JUMP too: a loop on a single line causes no further LINE event, however often it turns.
        for event in (events.PY_START, events.PY_RESUME, events.JUMP):
            monitoring.register_callback(_TOOL, event, self._at_offset)
        monitoring.set_events(_TOOL, events.LINE | events.PY_START | events.PY_RESUME | events.JUMP)
        # An earlier count may have disabled events of the same code objects; without this they
        # would stay silent and every later count be too low.
        monitoring.restart_events()

    def _at_line(self, code: CodeType, line: int) -> Any:
        return self._note(code, line) if self._is_own(code) else self._disable()

    def _at_offset(self, code: CodeType, *_: Any) -> Any:
        if not self._is_own(code):
            return self._disable()
        return self._note(code, code.co_firstlineno)

    def _disable(self) -> Any:
        return sys.monitoring.DISABLE  # type: ignore[attr-defined, unused-ignore]


_PROPERTY = "__get__"


class FunctionCalls(TorchFunctionMode):
    """Counts calls of torch's functions by their own names, as the submission calls them.

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
            # A list of tensors is printed one by one, which is no loop of the submission.
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


def _tensors(value: Any, depth: int = 0) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)) and depth < 3:
        for item in value:
            yield from _tensors(item, depth + 1)


def _matrices(first: int) -> Callable[[tuple[Any, ...]], int]:
    # Elements of the first factor times columns of the second.
    return lambda args: int(args[first].numel() * args[first + 1].shape[-1])


def _vectors(first: int) -> Callable[[tuple[Any, ...]], int]:
    return lambda args: math.prod(args[first].shape)


_PRODUCTS: dict[str, Callable[[tuple[Any, ...]], int]] = {
    "mm": _matrices(0), "bmm": _matrices(0), "_int_mm": _matrices(0),
    "addmm": _matrices(1), "baddbmm": _matrices(1), "addbmm": _matrices(1),
    "mv": _vectors(0), "dot": _vectors(0), "vdot": _vectors(0), "addmv": _vectors(1),
}  # fmt: skip


_MOST_NAMES = 500
_MOST_LINES = 5_000


class Counting:
    """A context manager around one call.

    ``files`` says what to call each submitted file: nothing, for the one that is called.
    """

    def __init__(self, files: Mapping[str, str], inputs: Iterable[torch.Tensor]) -> None:
        self._calls = FunctionCalls(inputs)
        self._operations = Operations(self._calls)
        self._lines = Lines(files, lambda: self._calls.quiet)
        self._stack = ExitStack()
        self._in_threads: list[Operations] = []

    def __enter__(self) -> Counting:
        self._stack.enter_context(self._threads_watched())
        # Lines last: what the modes themselves do in Python is no line of the submission.
        for context in (self._operations, self._calls, self._lines):
            self._stack.enter_context(context)
        return self

    @contextmanager
    def _threads_watched(self) -> Iterator[None]:
        """Count in threads that are started meanwhile, too: a mode holds for one thread alone."""
        start = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

        def watched(thread: threading.Thread) -> None:
            # Counters are shared; what is being called just now is not the same in two threads.
            calls = FunctionCalls(())
            calls.calls, calls.escapes = self._calls.calls, self._calls.escapes
            operations = Operations(calls)
            operations.ops, operations.under = self._operations.ops, self._operations.under
            self._in_threads.append(operations)
            with operations, calls:
                start(thread)

        threading.Thread._bootstrap_inner = watched  # type: ignore[attr-defined]
        try:
            yield
        finally:
            threading.Thread._bootstrap_inner = start  # type: ignore[attr-defined]

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        self._stack.close()
        # A BaseException, which no “except Exception” in a submission stops. Swallowed here alone.
        return kind is Enough

    def report(self) -> dict[Value, Value]:
        """Return what was counted."""
        lines = self._lines.lines.items()
        ran: dict[Value, Value] = {
            name: list[Value](sorted(at)[:_MOST_LINES]) for name, at in lines
        }
        counted = [self._operations, *self._in_threads]
        return {
            "events": self._lines.events,
            "lines": ran.pop(""),
            "beside": ran,
            "capped": self._lines.capped,
            "threads": self._lines.others,
            "calls": _counts(self._calls.calls),
            "escapes": _counts(self._calls.escapes),
            "ops": _counts(self._operations.ops),
            "under": {
                name: list[Value](sorted(under))
                for name, under in list(self._operations.under.items())[:_MOST_NAMES]
            },
            "bare": sum(item.bare for item in counted),
            "work": sum(item.work for item in counted),
            "greatest": max(item.greatest for item in counted),
        }


def _counts(counter: Counter[str]) -> dict[Value, Value]:
    return dict(counter.most_common(_MOST_NAMES))
