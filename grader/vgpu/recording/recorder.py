"""Write down what a process computes, so that it can be run again elsewhere on other inputs.

Every operation that torch dispatches, on the host and on virtual devices, becomes an entry: which
operation, on which memory, laid out how. Memory has numbers; a view is nothing but a layout, so
views need no entries. A call of a new shape is described once; each further one is a few numbers.
``grader.vgpu.recording.program`` reads such a log, and ``grader.vgpu.recording.replayer`` runs it.

The log is the word of the process that writes it. It needs no belief: what counts is what comes of
running it. Bytes that come from outside torch (NumPy, lists of numbers) are written down as they
are, so that a result which rests on them does not follow the inputs. Where a tensor went out as a
whole, and the same elements come back in, they are a copy of it.
"""

from __future__ import annotations

import functools
import json
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Literal

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from grader.vgpu.core.machine import Machine, installed
from grader.vgpu.core.tensor import (
    NumberedMemory,
    UnwritableError,
    VirtualTensor,
    model_tensors,
    named_tensors,
    tensors_in,
)
from grader.vgpu.core.trace import Mark, Synchronisation, TraceEvent
from grader.vgpu.core.values import Value

MOST_NUMBERS = 2_000_000
MOST_BYTES = 16 * 2**20
"""What a log may hold: numbers in its entries, and bytes from outside torch."""

# They change what describes a tensor. Every entry says how its tensors lie.
_NO_WORK = frozenset({
    "_unsafe_view", "_reshape_alias", "lift_fresh", "set_", "resize_", "resize_as_", "is_same_size",
    "detach_", "alias", "t_", "transpose_", "squeeze_", "unsqueeze_", "_has_same_storage_numel",
    "as_strided_", "swapaxes_", "swapdims_", "detach",
})  # fmt: skip

_HANDED_OUT = ("tolist", "numpy")
"""Methods by which a tensor leaves torch as a whole."""
_MOST_HANDED_OUT = 16
"""So many of them are remembered, and only those of so many bytes."""
_MOST_HANDED_BYTES = 2**20

# cat refuses an empty list.
_NOTHING = torch.empty(0, dtype=torch.uint8)

Key = tuple[Any, ...]


class _Local(threading.local):
    """What a thread is at.

    Attributes:
        looks: An operation is being looked at already.
    """

    looks = False


class Log:
    """What is computed while it is open.

    Args:
        machine: Whose devices there are; None where all is on the host.

    Attributes:
        why: Why it is not complete; empty where it is.
        most_numbers: Numbers that its entries may hold.
        most_bytes: Bytes from outside torch that it may hold.
        follows_copies: What went out as a whole is known again when it comes back.
    """

    most_numbers = MOST_NUMBERS
    most_bytes = MOST_BYTES
    follows_copies = True

    def __init__(self, machine: Machine | None) -> None:
        self.why = ""
        self._machine = machine
        # A storage may end, and be written down, while this thread is inside already.
        self._lock = threading.RLock()
        self._memory = NumberedMemory(self._ended)
        self._descriptors: dict[Key, int] = {}
        self._texts: list[str] = []
        self._entries: list[int] = []
        self._numbers: list[float] = []
        self._constants: list[torch.Tensor] = []
        self._bytes = 0
        self._handed_out: deque[torch.Tensor] = deque(maxlen=_MOST_HANDED_OUT)
        self._threads: dict[int, int] = {}
        self.local = _Local()

    # -- what given.py says ------------------------------------------------------------------------

    def leaf(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        """Give a tensor of the case's its name: other values will take its place.

        Raises:
            ValueError: It shares memory, or has been used already.
        """
        # A replay puts other bytes in the place of this memory, so it has to hold this tensor and
        # nothing else.
        whole = tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()
        if isinstance(tensor, VirtualTensor) or not (whole and tensor.is_contiguous()):
            raise ValueError(f"{name} is no tensor on the CPU with memory of its own")
        with self._lock:
            handle, known = self._memory.find(tensor)
            if known:
                raise ValueError(f"{name} was used before it was named")
            self._add(("leaf", name, _layout(tensor), handle_size(tensor)), [handle])
        return tensor

    def begin(self, name: str, *inputs: str) -> None:
        """Begin a part of the course that is looked at by itself.

        Args:
            name: Of the part.
            inputs: Names of leaves. Work on them counts for this part wherever it stands.
        """
        self._add(("begin", name, inputs), [])

    def end(self, name: str, outputs: Any, also: Iterable[torch.Tensor] = ()) -> None:
        """End it; what descends to these outputs is what counts.

        Args:
            name: Of the part.
            outputs: They are compared.
            also: Too large to be compared.
        """
        handles: list[int] = []
        compared = [
            (where, self._reference(item, handles)) for where, item in named_tensors(outputs)
        ]
        more = [self._reference(item, handles) for item in also]
        self._add(("end", name, tuple(compared), tuple(more)), handles)

    def output(self, name: str, tensor: torch.Tensor | None) -> None:
        """Say what counts too, as it is now: a gradient that is looked at later."""
        if tensor is not None:
            handles: list[int] = []
            self._add(("output", name, self._reference(tensor, handles)), handles)

    def place(self, model: torch.nn.Module) -> None:
        """Say what a model has, as it lies now."""
        for name, kind, tensor in model_tensors(model):
            handles: list[int] = []
            where = self._reference(tensor, handles)
            self._add(("place", name, kind, where, int(tensor.requires_grad)), handles)

    def as_values(self) -> dict[Value, Any]:
        """Return the log in values."""
        with self._lock:
            return {
                "descriptors": "\n".join(self._texts).encode(),
                "entries": torch.tensor(self._entries, dtype=torch.int64),
                "numbers": torch.tensor(self._numbers, dtype=torch.float64),
                "constants": torch.cat([_NOTHING, *self._constants]),
                "why": self.why,
            }

    # -- what virtual devices and the dispatcher say -----------------------------------------------

    def skips(self, func: Any) -> bool:
        """Tell whether an operation is none that this log has."""
        return skipped(func)

    def meet(self, args: Any, kwargs: dict[str, Any]) -> None:
        """Look at arguments before their operation: what is unknown is kept as it is now."""
        try:
            for tensor in tensors_in((args, tuple(kwargs.values()))):
                self._handle(tensor)
        except UnwritableError as error:
            self.why = str(error)

    def operation(self, func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        """Write an operation down. Never raises."""
        if self.why:
            return
        try:
            self._operation(func, args, kwargs, result)
        except UnwritableError as error:
            self.why = f"{func}: {error}"
        except Exception as error:  # noqa: BLE001  a log must not change what it looks at
            self.why = f"{func}: {type(error).__name__}: {error}"

    def unseen(self, func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        """Write down an operation on devices, in a thread that was there before the log."""
        if not self.local.looks and not skipped(func):
            self.operation(func, args, kwargs, result)

    def handed_out(self, tensor: torch.Tensor) -> None:
        """Remember a tensor whose elements have left torch. Never raises."""
        if self.why or isinstance(tensor, VirtualTensor) or tensor.layout is not torch.strided:
            return
        size = tensor.numel() * tensor.element_size()
        if not 0 < size <= _MOST_HANDED_BYTES or self._from_below(tensor):
            return
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction(), torch.no_grad():
            # As it is now: whoever has the numbers does not see what is written later.
            kept = tensor.detach().clone(memory_format=torch.contiguous_format)
            self.meet((tensor,), {})
            named = {"memory_format": torch.contiguous_format}
            self.operation(torch.ops.aten.clone.default, (tensor,), named, kept)
        self._handed_out.append(kept)

    def move(self, source: torch.Tensor, copy: torch.Tensor, blocking: bool) -> None:
        """Write down that elements went to another device, or to page-locked memory."""
        if self.why:
            return
        with self._lock:
            handles: list[int] = []
            where = self._reference(source, handles)
            handle, _ = self._memory.find(copy)
            handles.append(handle)
            target = copy.ordinal if isinstance(copy, VirtualTensor) else -1
            there = self._stream(target)
            parameter = int(isinstance(source, torch.nn.Parameter))
            what = (where, _layout(copy), handle_size(copy), target, int(blocking), parameter)
            home = target if not isinstance(source, VirtualTensor) else source.ordinal
            self._add(("move", *what, there, self._place(home)), handles)

    def event(self, kind: type[TraceEvent], ordinal: int, what: tuple[Any, ...]) -> None:
        """Write down that somebody waits, or an event of a stream."""
        if kind in (Synchronisation, Mark):
            self._add((kind.__name__, what, self._place(ordinal)), [])

    # -- entries -----------------------------------------------------------------------------------

    def _operation(self, func: Any, args: Any, kwargs: dict[str, Any], result: Any) -> None:
        with self._lock:
            handles: list[int] = []
            numbers: list[float] = []
            home = -1
            if self._machine is not None:
                on_devices = (t for t in tensors_in((args, result)) if isinstance(t, VirtualTensor))
                home = next((item.ordinal for item in on_devices), -1)
                if any(map(self._from_below, tensors_in((args, tuple(kwargs.values()))))):
                    return
            # Arguments, then keywords, then results: the reader takes handles and numbers in this
            # order.
            positional = self._written(args, handles, numbers)
            named = tuple(
                (name, self._written(value, handles, numbers)) for name, value in kwargs.items()
            )
            made = tuple(self._made(item, handles) for item in tensors_in(result))
            self._add(
                ("op", _name(func), positional, named, made, self._place(home)), handles, numbers
            )

    def _from_below(self, tensor: torch.Tensor) -> bool:
        """Tell whether somebody looks at a device's memory from outside, as printing does."""
        return not isinstance(tensor, VirtualTensor) and self._memory.device(tensor) >= 0

    def _written(self, value: Any, handles: list[int], numbers: list[float]) -> Any:
        if isinstance(value, torch.Tensor):
            return self._reference(value, handles)
        if isinstance(value, (list, tuple)):
            return ("l", tuple(self._written(item, handles, numbers) for item in value))
        if isinstance(value, float):
            # Apart from the description: a step size that changes would make every step a new one.
            numbers.append(value)
            return ("f",)
        return _static(value)

    def _reference(self, tensor: torch.Tensor, handles: list[int]) -> Key:
        handles.append(self._handle(tensor))
        return ("t", *_layout(tensor))

    def _made(self, tensor: torch.Tensor, handles: list[int]) -> Key:
        handle, known = self._memory.find(tensor)
        handles.append(handle)
        if known:
            return ("t", *_layout(tensor))
        return ("n", *_layout(tensor), handle_size(tensor))

    def _handle(self, tensor: torch.Tensor) -> int:
        """Return the number of a tensor's memory; keep what is there where it is unknown."""
        with self._lock:
            ordinal = tensor.ordinal if isinstance(tensor, VirtualTensor) else -1
            known = self._memory.look(tensor)
            if known is None:
                handle, _ = self._memory.find(tensor)
                self._constant(handle, tensor, ordinal)
                return handle
            handle, device, grown = known
            if ordinal >= 0 and device < 0:
                # Torch made it on the host; from here on it is used as the device's.
                self._memory.moved(tensor, ordinal)
                self._add(("home", ordinal), [handle])
            if grown is not None:
                self._add(("size", grown), [handle])
            return handle

    def _constant(self, handle: int, tensor: torch.Tensor, ordinal: int) -> None:
        if ordinal < 0 and self._comes_back(handle, tensor):
            return
        size = tensor.untyped_storage().nbytes()
        offset = self._bytes
        self._bytes += size
        if self._bytes > self.most_bytes:
            self.why = f"more than {self.most_bytes} bytes come from outside torch"
            return
        # Unseen by every mode: this look must not become an entry itself.
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction(), torch.no_grad():
            bare = torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage())
            self._constants.append(bare.clone())
        self._add(("constant", offset, size, ordinal), [handle])

    def _comes_back(self, handle: int, tensor: torch.Tensor) -> bool:
        """Write down a copy of what went out as a whole, if it is one; tell whether it is."""
        whole = handle_size(tensor) == tensor.numel() * tensor.element_size()
        if not whole or not tensor.is_contiguous():
            return False
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction(), torch.no_grad():
            source = next(
                (item for item in reversed(self._handed_out)
                 if item.shape == tensor.shape and torch.equal(item.to(tensor.dtype), tensor)),
                None,
            )  # fmt: skip
        if source is None:
            return False
        handles: list[int] = []
        where = self._reference(source, handles)
        dtype = (("dtype", _static(tensor.dtype)),)
        made = ("n", *_layout(tensor), handle_size(tensor))
        name = ("aten", "_to_copy", "default")
        key = ("op", name, ("l", (where,)), dtype, (made,), self._place(-1))
        self._add(key, [*handles, handle])
        return True

    def _place(self, ordinal: int) -> Key:
        """Return where in the course of things: thread, stream, phase."""
        thread = self._threads.setdefault(threading.get_ident(), len(self._threads))
        stream = self._stream(ordinal) if ordinal >= 0 else 0
        return thread, stream, int(torch._C._current_graph_task_id() >= 0)

    def _stream(self, ordinal: int) -> int:
        return self._machine.local.streams.get(ordinal, 0) if self._machine else 0

    def _ended(self, handle: int) -> None:
        self._add(("free",), [handle])

    def _add(self, key: Key, handles: list[int], numbers: list[float] | None = None) -> None:
        with self._lock:
            if len(self._entries) > self.most_numbers:
                self.why = self.why or f"more than {self.most_numbers} numbers"
                return
            # Each description once: a training loop writes the same few hundred again and again.
            number = self._descriptors.get(key)
            if number is None:
                number = self._descriptors[key] = len(self._texts)
                self._texts.append(json.dumps(key))
            self._entries += (number, *handles)
            self._numbers += numbers or ()


@functools.cache
def dtype_name(dtype: torch.dtype) -> str:
    """Return the name of a dtype, without ``torch.``."""
    return str(dtype).removeprefix("torch.")


@functools.cache
def _name(func: Any) -> Key:
    return func.namespace, func.overloadpacket.__name__, func._overloadname


def _layout(tensor: torch.Tensor) -> Key:
    return (
        dtype_name(tensor.dtype), tensor.storage_offset(), tuple(tensor.shape), tensor.stride(),
    )  # fmt: skip


def handle_size(tensor: torch.Tensor) -> int:
    """Return the bytes of a tensor's memory, all of it."""
    return tensor.untyped_storage().nbytes()


def _static(value: Any) -> Key:
    """Return what stands for an argument that is part of the description."""
    # Before int, which a bool is, too.
    if isinstance(value, bool):
        return ("b", int(value))
    if value is None or type(value) in (int, str):
        return ("v", value)
    if isinstance(value, torch.dtype):
        return ("d", dtype_name(value))
    if isinstance(value, torch.memory_format):
        return ("m", str(value).removeprefix("torch."))
    # They say where: a replay computes on the host, and the log names devices elsewhere.
    if isinstance(value, (torch.device, torch.layout, torch.Generator)):
        return ("n",)
    raise UnwritableError(type(value).__name__)


@functools.cache
def skipped(func: Any) -> bool:
    """Tell whether an operation is none that a log has."""
    none = func.is_view or func.overloadpacket.__name__ in _NO_WORK
    return none or func.namespace == "profiler"


class untraced:  # noqa: N801  used as a function is
    """A context without Python's trace function, which would be called at each call in it."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = sys.gettrace()
        sys.settrace(None)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)


class LightMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A mode whose operations are not wrapped for torch's compiler, which costs more than they.

    Nothing is compiled below a mode: the compiler leaves functions there as they are.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


class _Looking(LightMode):  # type: ignore[no-untyped-call]
    """Sees every operation of a thread."""

    def __init__(self, log: Log) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._log = log

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if self._log.why or self._log.skips(func):
            return func(*args, **kwargs)
        with untraced(), torch._C.DisableTorchFunction():
            self._log.meet(args, kwargs)
        self._log.local.looks = True
        try:
            result = func(*args, **kwargs)
        finally:
            self._log.local.looks = False
        with untraced(), torch._C.DisableTorchFunction():
            self._log.operation(func, args, kwargs, result)
        return result


class NoLog:
    """A log on real GPUs: nothing is written down. It is false, and has what ``given.py`` calls."""

    def __bool__(self) -> Literal[False]:
        return False

    def leaf(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        """See ``Log.leaf``."""
        return tensor

    def begin(self, name: str, *inputs: str) -> None:
        """See ``Log.begin``."""

    def end(self, name: str, outputs: Any, also: Iterable[torch.Tensor] = ()) -> None:
        """See ``Log.end``."""

    def output(self, name: str, tensor: torch.Tensor | None) -> None:
        """See ``Log.output``."""

    def place(self, model: torch.nn.Module) -> None:
        """See ``Log.place``."""

    def as_values(self) -> None:
        """Return nothing, which tells the stage that GPUs were real."""


@contextmanager
def logged() -> Iterator[Log | NoLog]:
    """Write down what is computed inside a ``with`` block; on real GPUs nothing is."""
    machine = installed()
    if machine is None:
        yield NoLog()
        return
    log = Log(machine)
    machine.log = log
    try:
        with written_to(log):
            yield log
    finally:
        machine.log = None


@contextmanager
def written_to(log: Log) -> Iterator[None]:
    """Write what this thread computes, and threads that it starts, into a log."""
    run = threading.Thread.run

    # A mode holds for one thread alone: each new thread has to enter its own.
    def looked_at(self: threading.Thread) -> None:
        with _Looking(log):
            run(self)

    threading.Thread.run = looked_at  # type: ignore[method-assign]
    try:
        with ExitStack() as stack:
            if log.follows_copies:
                stack.enter_context(_handed_out_to(log))
            stack.enter_context(_Looking(log))
            yield
    finally:
        threading.Thread.run = run  # type: ignore[method-assign]


@contextmanager
def _handed_out_to(log: Log) -> Iterator[None]:
    """Tell a log which tensors leave torch as a whole: no operation says so."""

    def telling(name: str) -> Callable[..., Any]:
        original = getattr(torch.Tensor, name)

        def method(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            result = original(self, *args, **kwargs)
            log.handed_out(self)
            return result

        return functools.wraps(original)(method)

    # In the class itself there are none: torch's own stand one class below.
    for name in _HANDED_OUT:
        setattr(torch.Tensor, name, telling(name))
    try:
        yield
    finally:
        for name in _HANDED_OUT:
            delattr(torch.Tensor, name)
