"""Tools around a program: compilers, profilers, marks, clocks, and what virtual devices refuse.

``torch.compile`` hands back what it was given, for nothing here could be faster; TorchScript finds
torch's factories under the names that they have while the devices are there; profilers see the
host's part of the work alone.

On a timeline the host's clocks tell the host's virtual time. A function that reads a clock before
the devices are done reads too early, on a timeline as in life. Clocks that a module has taken hold
of (``from time import perf_counter``) are replaced there too. Without arithmetic nothing is random
and no element is known, so a statement that has issued the same events twice in a row, in the same
time, will do so again: ``timeit``'s further repeats get that time.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import sys
import time
import timeit
import warnings
from array import array
from collections.abc import Callable, Sequence
from functools import wraps
from math import isclose
from types import FunctionType, MethodType, ModuleType
from typing import Any

import torch
import torch.autograd.profiler
import torch.cuda.nccl
import torch.cuda.nvtx
import torch.cuda.profiler
import torch.export
import torch.utils.dlpack
from torch.utils._python_dispatch import _get_current_dispatch_mode

from grader.vgpu.core.dispatch import forget_operations
from grader.vgpu.core.machine import machine
from grader.vgpu.core.tensor import VirtualTensor, tensors_in
from grader.vgpu.core.trace import Allocation, Release, Trace
from grader.vgpu.patches import Patches, refused, unsupported
from grader.vgpu.patches.methods import at_home, composite

# Of the libraries in torch's own wheel for CUDA 12.8: what programs print or ask a minimum of.
CUDA, CUDNN, NCCL = "12.8", 91002, (2, 27, 5)

_AS_IT_IS = (
    "virtual GPUs do not compile: torch.compile returns what it was given, which runs as it is"
)


def _compile(original: Any) -> Any:
    warned: list[bool] = []

    def compile(model: Any = None, **options: Any) -> Any:  # noqa: A001  torch's own name
        """Return the function or module itself."""
        if model is None:
            return lambda function: compile(function, **options)
        if not warned:
            warned.append(True)
            warnings.warn(_AS_IT_IS, stacklevel=2)
        return model

    return compile


def _module_compile(self: torch.nn.Module, *_: Any, **__: Any) -> None:
    torch.compile(self)


def _export(original: Any) -> Any:
    def export(mod: Any, args: Any = (), *more: Any, **options: Any) -> Any:
        """Refuse a module on a device: torch's tracer looks at C++ and may end the process."""
        held = (*args, *mod.parameters()) if isinstance(mod, torch.nn.Module) else args
        if any(isinstance(each, VirtualTensor) for each in held):
            raise unsupported("torch.export.export", "export the model on the CPU")
        return original(mod, args, *more, **options)

    return export


def _find_builtin(original: Any) -> Any:
    def find(function: Any) -> Any:
        """Return the operator of one of torch's functions, also of one that is replaced."""
        return original(function) or original(getattr(function, "__wrapped__", None))

    return find


def _scripted(original: Any) -> Any:
    adopting = composite(original)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        """Run TorchScript; what it makes on its tensors' C++ device belongs to their own."""
        made = adopting(self, *args, **kwargs)
        home = next(tensors_in((*args, *kwargs.values())), None)
        return at_home(made, home)

    return call


def _moving_script(original: Any) -> Any:
    def apply(self: Any, *args: Any, **kwargs: Any) -> Any:
        # C++ holds the parameters of a scripted module: new ones must take their places.
        local = machine().local
        before, local.replacing = local.replacing, True
        try:
            return original(self, *args, **kwargs)
        finally:
            local.replacing = before

    return apply


def _host_profile(original: Any) -> Any:
    def __init__(self: Any, enabled: bool = True, **options: Any) -> None:  # noqa: N807
        # A profiler that looks for CUDA's events says at each operation that it finds none. One
        # that looks for nothing else looks for the host's, for there is no other part.
        asked = [options.pop(name, None) for name in ("use_cuda", "use_device")]
        if any(asked):
            options["use_cpu"] = True
        original(self, enabled, **options)

    return __init__


def _no_nvtx(original: Any) -> Any:
    def __init__(self: Any, enabled: bool = True, record_shapes: bool = False) -> None:  # noqa: N807
        original(self, False, record_shapes)

    return __init__


_numbers = itertools.count(1)
_NVTX: dict[str, Any] = {
    "range_push": lambda _: 0,
    "range_pop": lambda: 0,
    "range_start": lambda _: next(_numbers),
    "range_end": lambda _: None,
    "mark": lambda _: None,
    "range": lambda *_, **__: contextlib.nullcontext(),
}


def _snapshot(device: Any = None, **_: Any) -> dict[str, Any]:
    """Return what was allocated and freed, as ``torch.cuda.memory._snapshot`` has it."""
    here = machine()
    traces: list[list[dict[str, Any]]] = [[] for _ in here.names]
    for event in here.trace.events:
        if isinstance(event, (Allocation, Release)):
            action = "alloc" if isinstance(event, Allocation) else "free_completed"
            traces[here.names.index(event.device)].append({
                "action": action, "addr": event.block, "size": event.bytes,
                "stream": event.stream, "frames": [],
            })  # fmt: skip
    return {"segments": [], "device_traces": traces}


def _patch_versions(patches: Patches) -> None:
    cudnn, built = torch.backends.cudnn, torch.backends.cuda
    patches.set(torch.version, "cuda", CUDA)
    patches.set(torch.cuda.nccl, "version", lambda: NCCL)
    patches.set(cudnn, "version", lambda: CUDNN)
    patches.set(cudnn, "is_available", lambda: True)
    patches.set(built, "is_built", lambda: True)


def _patch_compilers(patches: Patches) -> None:
    # Kept by torch from its first use on: it must know torch's own functions.
    builtins: Any = torch.jit._builtins
    builtins._get_builtin_table()
    patches.wrap(torch, "compile", _compile)
    patches.set(torch.nn.Module, "compile", _module_compile)
    patches.wrap(torch.jit._builtins, "_find_builtin", _find_builtin)
    patches.wrap(torch.jit._recursive, "_find_builtin", _find_builtin)
    patches.wrap(torch.jit.ScriptFunction, "__call__", _scripted)
    patches.wrap(torch.jit._script.RecursiveScriptModule, "_apply", _moving_script)
    patches.wrap(torch.export, "export", _export)


def _is_subclass(value: Any) -> bool:
    """Tell whether a value is a tensor that answers operations in Python."""
    keys = torch._C._dispatch_keys(value) if isinstance(value, torch.Tensor) else None
    return keys is not None and keys.has(torch._C.DispatchKey.Python)


def _on_devices(original: Any) -> Any:
    python, host = torch._C.DispatchKey.Python, torch._C.DispatchKey.CPU
    flatten: Any = torch._ops._to_flat_tuple

    def dispatch(self: Any, key: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run an operation that takes functions as it runs on the host: by torch's own formula."""
        if key == python and _get_current_dispatch_mode() is None:
            given: Sequence[Any] = flatten(args, kwargs)
            held = [each for each in given if _is_subclass(each)]
            if held and all(type(each) is VirtualTensor for each in held):
                key = host
        return original(self, key, *args, **kwargs)

    return dispatch


class _AllocatorState:
    """Stands for what graphs of Inductor's keep of CUDA's allocator; there are none."""


# What the compiler's own modules import of C++ where there is a GPU.
_FOR_INDUCTOR = {
    "_cuda_CUDAAllocator_AllocatorState": _AllocatorState,
    "_set_cached_tensors_enabled": lambda _: None,
}


def patch_tools(patches: Patches) -> None:
    """Let these tools run, or say that they do not."""
    _patch_versions(patches)
    _patch_compilers(patches)
    patches.wrap(torch._ops.HigherOrderOperator, "dispatch", _on_devices)
    for name in ("impl", "_destroy"):
        patches.wrap(torch.library.Library, name, forget_operations)
    for name, value in _FOR_INDUCTOR.items():
        if not hasattr(torch._C, name):
            patches.set(torch._C, name, value)
    profiler = torch.autograd.profiler
    patches.wrap(profiler.profile, "__init__", _host_profile)
    patches.wrap(profiler.emit_nvtx, "__init__", _no_nvtx)
    for name, value in _NVTX.items():
        patches.set(torch.cuda.nvtx, name, value)
    for name in ("start", "stop", "profile"):
        quiet = contextlib.nullcontext if name == "profile" else lambda: None
        patches.set(torch.cuda.profiler, name, quiet)
    patches.set(torch.cuda.memory, "_record_memory_history", lambda *_, **__: None)
    patches.set(torch.cuda.memory, "_snapshot", _snapshot)


def _on_host_only(name: str) -> Any:
    def wrapped(original: Any) -> Any:
        def call(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            # What it makes would be where the C++ device is.
            if isinstance(tensor, VirtualTensor):
                raise unsupported(name, "use Tensor.cpu() first")
            return original(tensor, *args, **kwargs)

        return call

    return wrapped


_BELOW = re.compile(
    r"module 'torch\._C' has no|dummy base class|torch\._C\._\w+ is not supported|'NoneType' object"
)
_OF_CUDA = (
    "torch.cuda", "torch.cuda.memory", "torch.cuda.nccl", "torch.cuda.tunable", "torch.cuda.gds",
    "torch.cuda.profiler", "torch.cuda.green_contexts",
)  # fmt: skip


_COMPILED = ("_compile_kernel", "jiterator._create_jit_fn", "jiterator._create_multi_output_jit_fn")


def _by_name(name: str) -> Any:
    def wrapped(original: Any) -> Any:
        @wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return original(*args, **kwargs)
            except (AttributeError, RuntimeError) as error:
                # What it would call in C++ is not in a build without CUDA.
                if _BELOW.search(str(error)) is None:
                    raise
            # Outside the handler: C++'s error would be shown above this one.
            raise unsupported(name)

        return call

    return wrapped


def _rest(patches: Patches) -> None:
    """Refuse by name what nothing else stands for: torch's own functions that end in C++."""
    for module in [sys.modules[name] for name in _OF_CUDA if name in sys.modules]:
        for name, value in list(vars(module).items()):
            theirs = isinstance(value, FunctionType) and value.__module__.startswith("torch.cuda")
            # What has a stand-in by now is left alone.
            if theirs and name[0] != "_" and not hasattr(value, "__wrapped__"):
                patches.wrap(module, name, _by_name(f"{module.__name__}.{name}"))


def _refuse(patches: Patches, module: Any, path: str) -> None:
    """Refuse what compiles code for CUDA, where this torch has it."""
    *modules, name = path.split(".")
    owner = module
    for each in modules:
        owner = getattr(owner, each, None)
    if hasattr(owner, name):
        patches.set(owner, name, refused(f"{module.__name__}.{path}"))


def patch_refused(patches: Patches) -> None:
    """Refuse them."""
    _rest(patches)
    gds: Any = sys.modules.get("torch.cuda.gds")
    if hasattr(gds, "GdsFile"):
        patches.set(gds, "GdsFile", refused("torch.cuda.gds.GdsFile"))
    for name in _COMPILED:
        _refuse(patches, torch.cuda, name)
    semi = "to_sparse_semi_structured"
    patches.set(torch.sparse, semi, refused(f"torch.sparse.{semi}"))
    patches.wrap(torch, "vander", _on_host_only("torch.vander"))
    for module in (torch, torch.utils.dlpack):
        patches.wrap(module, "to_dlpack", _on_host_only("torch.to_dlpack"))


_SECONDS = ("perf_counter", "monotonic", "time", "process_time", "thread_time")
_USUAL = timeit.default_timer
"""What ``timeit`` took for its default when it was loaded, and holds on to."""
MOST_READINGS = 10_000
_LATENCY = 1e-7
"""What reading a clock costs, so that no two readings are equal."""


class HostClock:
    """Clocks that tell the time of a timeline.

    Args:
        now: Tells it, in seconds.
        modules: Modules that may hold clocks of their own.

    Attributes:
        readings: What the program has read, in seconds; of very many the first.
    """

    def __init__(self, now: Callable[[], float], modules: Sequence[ModuleType]) -> None:
        self._now = now
        self._modules = modules
        self._patches = Patches()
        self._read = 0
        self.readings: list[float] = []

    def start(self) -> None:
        """Let all clocks tell the timeline's time."""
        for name in _SECONDS:
            self._replace(getattr(time, name), self._seconds)
            self._replace(getattr(time, f"{name}_ns"), self._nanoseconds)
        self._patches.wrap(timeit.Timer, "__init__", self._timer)

    def stop(self) -> None:
        """Put the machine's own clocks back, also where a module got hold of one meanwhile."""
        self._patches.undo()
        for module in self._modules:
            for name, value in list(vars(module).items()):
                if isinstance(value, MethodType) and value.__self__ is self:
                    seconds = value.__func__ is HostClock._seconds
                    usual = time.perf_counter if seconds else time.perf_counter_ns
                    setattr(module, name, getattr(time, name, usual))

    def _seconds(self) -> float:
        self._read += 1
        now = self._now()
        if self._read <= MOST_READINGS:
            self.readings.append(now)
        return now + self._read * _LATENCY

    def _nanoseconds(self) -> int:
        return round(self._seconds() * 1e9)

    def _timer(self, original: Any) -> Any:
        seconds = self._seconds

        def init(self: Any, *args: Any, **named: Any) -> None:
            """Make a timer; one that names no clock of its own reads the timeline's."""
            named.update(zip(("stmt", "setup", "timer", "globals"), args, strict=False))
            if named.get("timer", _USUAL) is _USUAL:
                named["timer"] = seconds
            original(self, **named)

        return init

    def _replace(self, clock: Any, stand_in: Any) -> None:
        for module in (time, timeit, *self._modules):
            for name, value in list(vars(module).items()):
                if value is clock:
                    self._patches.set(module, name, stand_in)


class TimeitRepeats:
    """Recognises repeats while it is started.

    Args:
        trace: Of the devices.

    Attributes:
        left_out: How many were not run.
    """

    def __init__(self, trace: Trace) -> None:
        self.left_out = 0
        self._trace = trace
        self._patches = Patches()

    def start(self) -> None:
        """Watch ``timeit``."""
        self._patches.wrap(timeit.Timer, "repeat", self._repeat)

    def stop(self) -> None:
        """Leave ``timeit`` as it was."""
        self._patches.undo()

    def _repeat(self, original: Any) -> Any:
        def repeat(timer: timeit.Timer, repeat: int = 5, number: int = 1000000) -> list[float]:
            """Call ``timeit`` so often, or until it comes out the same twice in a row."""
            times: list[float] = []
            before: array[int] | None = None
            while len(times) < repeat:
                first = self._trace.count
                times.append(timer.timeit(number))
                issued = self._trace.rows(first)
                # Another thread may have read the clock, which takes time as well.
                same = issued and issued == before
                if same and isclose(*times[-2:], rel_tol=1e-6, abs_tol=10 * _LATENCY):
                    self.left_out += repeat - len(times)
                    return times + times[-1:] * (repeat - len(times))
                before = issued
            return times

        return repeat
