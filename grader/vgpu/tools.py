"""Tools around a program: compilers, profilers, marks, and what torch says of its own build.

``torch.compile`` hands back what it was given, for nothing here could be faster; TorchScript finds
torch's factories under the names that they have while the devices are there; profilers see the
host's part of the work alone.
"""

from __future__ import annotations

import contextlib
import itertools
import warnings
from typing import Any

import torch
import torch.autograd.profiler
import torch.cuda.nccl
import torch.cuda.nvtx
import torch.cuda.profiler
import torch.export

from grader.vgpu import words
from grader.vgpu.composites import at_home, composite, tensors_in
from grader.vgpu.machine import machine
from grader.vgpu.patches import Patches
from grader.vgpu.tensor import VirtualTensor
from grader.vgpu.trace import Allocation, Release

# Of the libraries in torch's own wheel for CUDA 12.8: what programs print or ask a minimum of.
CUDA, CUDNN, NCCL = "12.8", 91002, (2, 27, 5)

_AS_IT_IS = (
    "virtual GPUs do not compile: torch.compile returns what it was given, which runs as it is"
)


def _compile(original: Any) -> Any:
    told: list[bool] = []

    def compile(model: Any = None, **options: Any) -> Any:  # noqa: A001  torch's own name
        """Return the function or module itself."""
        if model is None:
            return lambda function: compile(function, **options)
        if not told:
            told.append(True)
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
            raise words.unsupported("torch.export.export", "export the model on the CPU")
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
        # A profiler that looks for CUDA's events says at each operation that it finds none.
        for name in ("use_cuda", "use_device"):
            options.pop(name, None)
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


def patch(patches: Patches) -> None:
    """Let these tools run, or say that they do not."""
    _patch_versions(patches)
    _patch_compilers(patches)
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
