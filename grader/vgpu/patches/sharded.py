"""Training that is spread over processes: DDP's gradients, device meshes, DTensor, FSDP2.

Torch makes a spread tensor of each process's own part, an ordinary device tensor, and of
collectives. What is wrapped around the part stays on the host for C++, as every tensor here; it
says the part's device.

Some modules torch imports late. ``torch._dynamo`` comes with the first optimiser; it takes longer
than torch itself, and compares torch's functions with its own notes of them, so it must find torch
as it is. Importing it beforehand would make every program wait for it; so the patches step aside
while it is imported. Modules of ``LATE`` are changed as soon as they are there.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

import torch
import torch.distributed
import torch.nn.functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from grader.vgpu.core.device import ordinal_from
from grader.vgpu.core.machine import HOST, machine
from grader.vgpu.core.tensor import ordinal_of, part_of, plain, relabel
from grader.vgpu.patches import Patches, no_nested, refused, unsupported
from grader.vgpu.patches.streams import current_stream


def need_arithmetic() -> None:
    """Refuse exchanges where no elements are computed."""
    if not machine().arithmetic:
        raise unsupported("torch.distributed without arithmetic", "leave --no-arithmetic out")


def data_parallel(original: Any) -> Any:
    """Return a constructor of models whose gradients are exchanged where that is noted."""

    @functools.wraps(original)
    def __init__(self: Any, module: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        """Let a model on a device exchange its gradients where they are noted."""
        original(self, module, *args, **kwargs)
        ordinal = ordinal_of(next(module.parameters(), None))
        if ordinal is not None:
            need_arithmetic()
            machine().reducing = True
            reducer = _Reducer(self.process_group, ordinal)
            object.__setattr__(self, _REDUCER, reducer)
            reducer.reserve(self.reducer)
            torch._C._distributed_c10d._register_comm_hook(self.reducer, None, reducer.reduce)

    return __init__


_REDUCER = "_virtual_reducer"


class _Bucket:
    """Gradients as a hook gets them: on the device."""

    def __init__(self, bucket: Any, ordinal: int) -> None:
        self._bucket = bucket
        self._ordinal = ordinal

    def buffer(self) -> torch.Tensor:
        """Return all gradients in one row."""
        return relabel(self._bucket.buffer(), self._ordinal)

    def gradients(self) -> list[torch.Tensor]:
        """Return them one by one."""
        return [relabel(each, self._ordinal) for each in self._bucket.gradients()]

    def set_buffer(self, tensor: torch.Tensor) -> None:
        """Put others in their place."""
        self._bucket.set_buffer(plain(tensor))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bucket, name)


class _Reducer:
    """How a model's gradients become those of all ranks: as torch does it, or by a hook."""

    def __init__(self, group: Any, ordinal: int) -> None:
        self._group = group
        self._ordinal = ordinal
        self._hook: Any = None
        self._state: Any = None
        self._reserved: dict[int, torch.UntypedStorage] = {}

    def reserve(self, buckets: Any) -> None:
        """Count the buckets that C++ has made, before a hook is lent the first of them.

        Args:
            buckets: What made them, and tells their sizes.
        """
        self._reserved.clear()
        for bucket in buckets._get_zeros_like_grad_buckets():
            alike = torch.empty_like(bucket.buffer(), device="meta").untyped_storage()
            machine().blocks.hold(alike, self._ordinal)
            self._reserved[bucket.index()] = alike

    def hook(self, state: Any, hook: Any) -> None:
        """Have a hook do it."""
        self._state, self._hook = state, hook

    def reduce(self, _: Any, bucket: Any) -> Any:
        """Begin; the future has the bucket's new contents, on the host."""
        buffer = bucket.buffer()
        # C++ has made it on the host; on a GPU it takes the device's memory.
        self._reserved.pop(bucket.index(), None)
        machine().blocks.hold(buffer.untyped_storage(), self._ordinal)
        if self._hook is None:
            gradients = relabel(buffer, self._ordinal)
            gradients.div_(self._group.size())
            work = torch.distributed.all_reduce(gradients, group=self._group, async_op=True)
            done = work.done
            # At the end of the backward pass: until then, computing and exchanging may overlap.
            if torch._C._current_graph_task_id() >= 0:
                torch.autograd.Variable._execution_engine.queue_callback(
                    lambda: done.wait(current_stream(self._ordinal))
                )
            else:
                # Of a rank that has no more inputs, and answers the others (``Join``).
                done.wait(current_stream(self._ordinal))
            return work.get_future().then(lambda _: buffer)
        future = self._hook(self._state, _Bucket(bucket, self._ordinal))
        return future.then(lambda ended: plain(_only(ended.value())))


def _only(value: Any) -> Any:
    return value[0] if isinstance(value, (list, tuple)) else value


def buckets_anew(original: Any) -> Any:
    """Return what such a model does before a forward pass: once it makes its buckets anew."""

    @functools.wraps(original)
    def _pre_forward(self: Any, *inputs: Any, **kwargs: Any) -> Any:
        reducer, before = getattr(self, _REDUCER, None), self._has_rebuilt_buckets
        given = original(self, *inputs, **kwargs)
        if reducer is not None and self._has_rebuilt_buckets != before:
            reducer.reserve(self.reducer)
        return given

    return _pre_forward


def own_hook(original: Any) -> Any:
    """Return what gives such a model a hook for its gradients."""

    @functools.wraps(original)
    def register_comm_hook(self: Any, state: Any, hook: Any) -> None:
        reducer = getattr(self, _REDUCER, None)
        if reducer is None:
            original(self, state, hook)
            return
        self._check_comm_hook(hook)
        reducer.hook(state, hook)

    return register_comm_hook


def _mesh(original: Any) -> Any:
    @wraps(original)
    def __init__(self: Any, device_type: str, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        """Give a rank that has not used its devices the one of its number, as torch does."""
        here = machine()
        rank = os.environ.get("LOCAL_RANK")
        if device_type == "cuda" and rank is not None and not here.trace.count:
            torch.cuda.set_device(int(rank) % here.count)
        original(self, device_type, *args, **kwargs)

    return __init__


def _accelerator(*_: Any) -> torch.device:
    # Inside an exchange C++ is told where it is to work: on the host.
    return torch.device(HOST if machine().local.exchanging else "cuda")


def _wrapper(original: Any) -> Any:
    def make(cls: type, *args: Any, **kwargs: Any) -> Any:
        """Make a tensor around others; for C++ it is on the host, as these are."""
        # Torch's nested tensors pass it by its place.
        by_place = next((each for each in args if isinstance(each, torch.device)), None)
        if ordinal_from(kwargs.get("device", by_place)) is not None:
            if cls.__module__.startswith("torch.nested."):
                raise no_nested("a nested tensor")
            if not cls.__module__.startswith("torch.distributed."):
                raise unsupported(
                    "Tensor._make_wrapper_subclass with device='cuda'",
                    "make the subclass by Tensor._make_subclass, or on the CPU",
                )
            kwargs["device"] = HOST
        return original(cls, *args, **kwargs)

    return staticmethod(make)


def _attention(original: Any) -> Any:
    def attention(query: Any, *args: Any, **kwargs: Any) -> Any:
        """Take apart what torch can only spread as CUDA's kernel: here it would be the CPU's."""
        if part_of(query) is None:
            return original(query, *args, **kwargs)
        # Known by now: there is a DTensor. A causal mask is made inside, the same everywhere.
        spreading = import_module("torch.distributed.tensor.experimental")
        with sdpa_kernel(SDPBackend.MATH), spreading.implicit_replication():
            return original(query, *args, **kwargs)

    return attention


def _with_bias(original: Any) -> Any:
    def attention(query: Any, *args: Any, **kwargs: Any) -> Any:
        """Let torch make a mask of a causal bias: it knows this function by another name."""
        # Not imported for it: the module brings the compiler along.
        kind: Any = getattr(sys.modules.get("torch.nn.attention.bias"), "CausalBias", None)
        mask = args[2] if len(args) > 2 else kwargs.get("attn_mask")
        if kind is not None and isinstance(mask, kind):
            return kind._dispatch(query, *args, **kwargs)
        return original(query, *args, **kwargs)

    return attention


def _without_kernel(original: Any) -> Any:
    cuda: Any = torch.backends.cuda

    def attention(query: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute what was left to kernels that only CUDA has by torch's own formula."""
        here = cuda.flash_sdp_enabled() or cuda.math_sdp_enabled()
        there = cuda.mem_efficient_sdp_enabled() or cuda.cudnn_sdp_enabled()
        if here or not there or ordinal_of(query) is None:
            return original(query, *args, **kwargs)
        with sdpa_kernel(SDPBackend.MATH):
            return original(query, *args, **kwargs)

    return attention


def _of_part(name: str, attribute: str) -> property:
    return property(lambda self: getattr(getattr(self, name), attribute))


def _say_devices(kind: type, part: str, patches: Patches) -> None:
    for attribute in ("device", "is_cuda", "is_cpu"):
        patches.set(kind, attribute, _of_part(part, attribute))
    patches.set(kind, "get_device", lambda self: getattr(self, part).get_device())


def _spread(module: ModuleType, patches: Patches) -> None:
    _say_devices(module.DTensor, "_local_tensor", patches)


def _under_way(module: ModuleType, patches: Patches) -> None:
    _say_devices(module.AsyncCollectiveTensor, "elem", patches)


def _drawn(module: ModuleType, patches: Patches) -> None:
    # Torch would set offsets into Philox's numbers; the generator here is another. As on the CPU,
    # each process draws for its own part.
    patches.set(module, "is_rng_supported_mesh", lambda _: False)


def _nothing_compiled(*names: str) -> Callable[[ModuleType, Patches], None]:
    """Refuse what looks at compiled code: there is none."""

    def change(module: ModuleType, patches: Patches) -> None:
        for name in names:
            full = f"{module.__name__}.{name}"
            patches.set(module, name, refused(full, "virtual GPUs do not compile"))

    return change


LATE: dict[str, Callable[[ModuleType, Patches], None]] = {
    "torch.distributed.tensor._api": _spread,
    "torch.distributed._functional_collectives": _under_way,
    "torch.distributed.tensor._random": _drawn,
    "torch._dynamo.eval_frame": _nothing_compiled("explain", "export"),
    "torch._inductor.utils": _nothing_compiled("run_and_get_code"),
}
"""Modules that nobody may have imported yet, and what is changed in them."""


def patch_sharded(patches: Patches) -> None:
    """Let tensors be spread over processes."""
    patches.set(torch._C, "_get_accelerator", _accelerator)
    wrapper = _wrapper(torch.Tensor._make_wrapper_subclass)
    patches.set(torch.Tensor, "_make_wrapper_subclass", wrapper)
    for place in (torch.nn.functional, torch._C._nn):
        patches.wrap(place, "scaled_dot_product_attention", _attention)
        patches.wrap(place, "scaled_dot_product_attention", _without_kernel)
        patches.wrap(place, "scaled_dot_product_attention", _with_bias)
    if not torch.distributed.is_available():
        return
    patches.wrap(torch.distributed.device_mesh.DeviceMesh, "__init__", _mesh)
    for name, change in LATE.items():
        if name in sys.modules:
            change(sys.modules[name], patches)


_COMPILER = "torch._dynamo"


class LateImport(MetaPathFinder):
    """Finds these modules, and has them loaded as they need it.

    Args:
        patches: What steps aside, or is added to. Other threads find torch unpatched for that time.
    """

    def __init__(self, patches: Patches) -> None:
        self._patches = patches

    def find_spec(
        self, name: str, path: Sequence[str] | None, _: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to load it; None for all other modules."""
        late = name == _COMPILER or name in LATE
        spec = PathFinder.find_spec(name, path) if late else None
        if spec is not None and spec.loader is not None:
            kind = _Unpatched if name == _COMPILER else _Changing
            spec.loader = kind(spec.loader, self._patches)
        return spec

    def start(self) -> None:
        """Wait for the import."""
        sys.meta_path.insert(0, self)

    def stop(self) -> None:
        """Wait no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)


class _Unpatched(Loader):
    """Loads a module while the patches stand aside."""

    def __init__(self, real: Loader, patches: Patches) -> None:
        self._real = real
        self._patches = patches

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._real.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # Who asks the module for its source later asks its own loader.
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._real
        with self._patches.aside():
            self._real.exec_module(module)


class _Changing(_Unpatched):
    """Loads a module, and changes it."""

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._real
        self._real.exec_module(module)
        LATE[module.__name__](module, self._patches)
