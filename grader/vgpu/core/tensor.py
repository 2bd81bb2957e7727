"""A tensor on a virtual device: elements on the host, a device in Python.

Its C++ device stays ``cpu``: a real ``cuda`` key aborts the process in autograd on a CPU build. The
Python key that a subclass carries brings every operation on it to ``__torch_dispatch__``, from any
thread and from the backward pass.
"""

from __future__ import annotations

import copy
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, ClassVar, cast

import torch

from grader.vgpu.core.machine import HOST, machine
from grader.vgpu.core.values import Value
from grader.vgpu.patches import to_numpy, unsupported, used_before_fork

Run = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]

_make = torch.Tensor._make_subclass
# Of the C++ tensor: the class below says of itself where it is taken to be.
_is_meta: Callable[[torch.Tensor], bool] = cast("Any", torch._C.TensorBase.is_meta).__get__


class VirtualTensor(torch.Tensor):
    """A tensor on ``cuda:N``; made by ``wrap`` alone.

    Attributes:
        ordinal: N.
        mixes: ``run`` knows what to do with such a tensor; other subclasses decide for themselves.
    """

    ordinal: int
    run: ClassVar[Run]
    mixes: ClassVar[bool] = True

    # Without a torch function of its own an operation costs no second trip through Python, and
    # function modes still see the call as they do for a plain tensor.
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if len(types) > 1 and not all(getattr(kind, "mixes", False) for kind in types):
            return NotImplemented
        return cls.run(func, args, kwargs or {})

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """``cuda:N``."""
        return torch.device("cuda", self.ordinal)

    @property
    def is_cuda(self) -> bool:  # type: ignore[override]
        """True."""
        return True

    @property
    def is_cpu(self) -> bool:  # type: ignore[override]
        """False."""
        return False

    @property
    def is_meta(self) -> bool:  # type: ignore[override]
        """False, even where nothing is computed."""
        return False

    def get_device(self) -> int:
        """Return N."""
        return self.ordinal

    def tolist(self) -> Any:
        """Return the elements as nested lists; the host waits for them."""
        if self.dim() == 0:
            return self.item()
        # By a copy that a log has: what is made of the list descends from this tensor.
        return self.detach().cpu().tolist()

    def numpy(self, *, force: bool = False) -> Any:
        """Raise as torch does; with ``force`` return a copy on the host."""
        if force:
            return self.detach().cpu().resolve_conj().resolve_neg().numpy()
        raise to_numpy(str(self.device))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise to_numpy(str(self.device))

    def __dlpack__(self, **options: Any) -> Any:
        raise unsupported("Tensor.__dlpack__", "use Tensor.cpu() first")

    def __dlpack_device__(self) -> Any:
        raise unsupported("Tensor.__dlpack_device__", "use Tensor.cpu() first")

    @property
    def __cuda_array_interface__(self) -> Any:
        raise unsupported("Tensor.__cuda_array_interface__")

    def is_pinned(self, device: Any = None) -> bool:
        """Return False: only host memory is page-locked."""
        return False

    def pin_memory(self, device: Any = None) -> torch.Tensor:
        """Raise as torch does."""
        raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")

    def share_memory_(self) -> torch.Tensor:
        """Return self: device memory is shared between processes as it is."""
        return self

    def record_stream(self, stream: Any) -> None:
        """Do nothing: memory is never used again while somebody holds it."""

    def is_shared(self) -> bool:
        """Return True, as for every CUDA tensor."""
        return True

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        text = _printed(self, tensor_contents)
        return f"Parameter containing:\n{text}" if isinstance(self, torch.nn.Parameter) else text

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if self.dim() == 0 else object.__format__(self, spec)

    def __deepcopy__(self, memo: dict[int, Any]) -> torch.Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment.  If you were attempting to deepcopy a module, this may "
                "be because of a torch.nn.utils.weight_norm usage, see "
                "https://github.com/pytorch/pytorch/pull/103001"
            )
        if id(self) in memo:
            return cast("torch.Tensor", memo[id(self)])
        with torch.no_grad():
            twin = self.clone(memory_format=torch.preserve_format)
        if isinstance(self, torch.nn.Parameter):
            twin = torch.nn.Parameter(twin, self.requires_grad)
        else:
            twin.requires_grad_(self.requires_grad)
        memo[id(self)] = twin
        if self.grad is not None:
            twin.grad = copy.deepcopy(self.grad, memo)
        return twin

    def __reduce_ex__(self, protocol: Any) -> Any:
        # As torch.Tensor's own for a dense tensor: the storage says where it lives, see ``saving``.
        storage = torch.storage.TypedStorage(  # type: ignore[no-untyped-call]
            wrap_storage=self.untyped_storage(), dtype=self.dtype, _internal=True
        )
        hooks: dict[str, Any] = {}
        if isinstance(self, torch.nn.Parameter):
            return torch._utils._rebuild_parameter, (self.data, self.requires_grad, hooks)
        shape = (self.storage_offset(), tuple(self.size()), self.stride())
        return torch._utils._rebuild_tensor_v2, (storage, *shape, self.requires_grad, hooks)


# What a student prints: on a GPU ``type(x)`` is torch.Tensor.
VirtualTensor.__name__ = VirtualTensor.__qualname__ = "Tensor"
VirtualTensor.__module__ = "torch"


def wrap(tensor: torch.Tensor, ordinal: int) -> VirtualTensor:
    """Return a tensor on a device over the storage of one on the host, and count its memory.

    Args:
        tensor: Plain; detached from any graph, or still below autograd.
        ordinal: The device.

    Raises:
        torch.OutOfMemoryError: The device is full.
        RuntimeError: The process was forked from one that had used the devices.
    """
    if tensor._is_zerotensor():
        # Autograd's stand-in for a gradient of zeros has no elements to point at.
        tensor = torch.zeros(tensor.shape, dtype=tensor.dtype, device=HOST)
    here = machine()
    if here.forked:
        raise used_before_fork()
    here.blocks.hold(tensor.untyped_storage(), ordinal)
    wrapped = _make(VirtualTensor, tensor)
    wrapped.ordinal = ordinal
    return wrapped


def relabel(tensor: torch.Tensor, ordinal: int) -> VirtualTensor:
    """Return ``tensor`` as one on a device; its storage is counted already."""
    wrapped = _make(VirtualTensor, tensor)
    wrapped.ordinal = ordinal
    return wrapped


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """Return a CPU tensor over the same storage, outside any graph.

    For those who look at a device tensor from outside, as the grader does: no transfer is noted.
    """
    if not isinstance(tensor, VirtualTensor):
        return tensor.detach()
    with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction(), torch.no_grad():
        bare = torch.empty(0, dtype=tensor.dtype, device=_elements(tensor))
        bare.set_(tensor.untyped_storage(), tensor.storage_offset(), tensor.size(), tensor.stride())
        bare = bare.conj() if tensor.is_conj() else bare
        return bare._neg_view() if tensor.is_neg() else bare


def with_part(tensor: torch.Tensor, part: torch.Tensor) -> torch.Tensor:
    """Return a tensor that is spread as ``tensor`` is, with another part for this process."""
    kind: Any = type(tensor)
    if kind is torch.nn.Parameter:
        kind = sys.modules["torch.distributed.tensor"].DTensor
    spread: torch.Tensor = kind(part, tensor._spec, requires_grad=tensor.requires_grad)  # type: ignore[attr-defined]
    return spread


def is_blank(tensor: torch.Tensor) -> bool:
    """Tell whether a tensor has a shape and no elements: it was made without arithmetic."""
    return _is_meta(tensor)


def _elements(tensor: torch.Tensor) -> str:
    # Where the elements really are: without arithmetic they are nowhere.
    return "meta" if is_blank(tensor) else HOST


_FAKED = "fake_device"
"""What a shape without elements, of FakeTensorMode, has to say where it would be."""
ORDINARY = frozenset({torch.Tensor, torch.nn.Parameter, VirtualTensor})
"""Types of torch's and of this package; all others are somebody's."""


def is_shape(tensor: object) -> bool:
    """Tell a shape without elements, of FakeTensorMode."""
    # The types first: asking each tensor for what it has not costs a microsecond.
    return type(tensor) not in ORDINARY and hasattr(tensor, _FAKED)


def device_of(tensor: torch.Tensor) -> str:
    """Return ``cpu`` or ``cuda:N``, whatever a subclass of somebody else's says of itself."""
    if type(tensor) is VirtualTensor:
        return f"cuda:{tensor.ordinal}"
    if in_transform(tensor):
        return device_of(inside_transforms(tensor))
    names = wrapped_by(tensor)
    if names is not None:
        return device_of(getattr(tensor, names[0]))
    if is_shape(tensor):
        return str(getattr(tensor, _FAKED))
    with torch._C.DisableTorchFunctionSubclass():
        return str(torch._C.TensorBase.device.__get__(tensor))


def is_shape_on_device(tensor: object) -> bool:
    """Tell whether this is a shape of FakeTensorMode that would be on ``cuda:N``."""
    return is_shape(tensor) and bool(getattr(tensor, _FAKED).type == "cuda")


def ordinal_of(tensor: object) -> int | None:
    """Return N for a tensor on ``cuda:N``, None for all else."""
    if isinstance(tensor, VirtualTensor):
        return tensor.ordinal
    if isinstance(tensor, torch.Tensor) and in_transform(tensor):
        return ordinal_of(inside_transforms(tensor))
    names = wrapped_by(tensor)
    if names is not None:
        return ordinal_of(getattr(tensor, names[0]))
    return int(cast("Any", tensor).fake_device.index) if is_shape_on_device(tensor) else None


_functorch: Any = torch._C._functorch
in_transform: Callable[[torch.Tensor], bool] = _functorch.is_functorch_wrapped_tensor
"""Tells whether ``torch.func`` follows a tensor, for its C++ then says that it is on the host."""


def inside_transforms(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor that all of ``torch.func``'s transforms are wrapped around."""
    while in_transform(tensor):
        tensor = _functorch.get_unwrapped(tensor)
    return tensor


def wrapped_by(tensor: object) -> Sequence[str] | None:
    """Return the attributes in which a subclass has the tensors that it is wrapped around.

    They are where it is, whatever C++ says of it: a DTensor's part, what a collective will bring.
    """
    if not hasattr(type(tensor), "__tensor_flatten__"):
        return None
    names: Sequence[str] = cast("Any", tensor).__tensor_flatten__()[0]
    return names or None


def part_of(tensor: object) -> torch.Tensor | None:
    """Return this process's part of a tensor that is spread over processes, a DTensor."""
    kind = getattr(sys.modules.get("torch.distributed.tensor"), "DTensor", None)
    return None if kind is None or not isinstance(tensor, kind) else tensor._local_tensor


def _printed(tensor: VirtualTensor, contents: Any) -> str:
    """Print as torch does a CUDA tensor; the elements are read without leaving a trace."""
    formatter: Any = torch._tensor_str
    with torch.no_grad():
        if contents is None and tensor.numel() > 0:
            known = _elements(tensor) == HOST
            contents = formatter._tensor_str(plain(tensor), len("tensor(")) if known else "..."
        machine().wait(tensor.ordinal, "print")
    text = str(formatter._str_intern(tensor, tensor_contents=contents))
    if isinstance(tensor, torch.nn.Parameter):
        text = text.removeprefix("Parameter(").removesuffix(")")
    return "tensor(" + text.removeprefix(f"{type(tensor).__name__}(")


_MOST_PLACED = 5_000
_MOST_ITEMS = 200_000
"""As many as may cross to the host in one message: more are a mistake, or an attack."""


def placement(model: torch.nn.Module | None, output: Any = None) -> dict[Value, Value]:
    """Return name → kind, device, shape, bytes and whether it requires a gradient.

    Args:
        model: Its parameters, their gradients (``NAME.grad``) and its buffers are shown.
        output: Tensors in it are called ``output``, ``output[0]``, ``output[logits]``.
    """
    found = list(model_tensors(model)) if model is not None else []
    found += [(name, "output", tensor) for name, tensor in named_tensors(output)]
    return {name: _placed(kind, tensor) for name, kind, tensor in found[:_MOST_PLACED]}


def model_tensors(model: torch.nn.Module) -> Iterator[tuple[str, str, torch.Tensor]]:
    """Yield name, kind and tensor of all that a model has."""
    # By torch's own methods: a submission's class may have others, which show what it likes.
    for name, parameter in torch.nn.Module.named_parameters(model):
        yield name, "parameter", parameter
        if parameter.grad is not None:
            yield f"{name}.grad", "gradient", parameter.grad
    for name, buffer in torch.nn.Module.named_buffers(model):
        yield name, "buffer", buffer


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors in a value, lists and tuples looked into."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)


def named_tensors(value: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors in what a model returned, with the names that ``placement`` gives them."""
    for name, item in named_items(value):
        if isinstance(item, torch.Tensor):
            yield name, item


def named_items(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what was returned and all that it holds, with names; of a giant the beginning."""
    return islice(_walk("output", value), _MOST_ITEMS)


def _walk(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    yield name, value
    if isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            yield from _walk(f"{name}[{index}]", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _walk(f"{name}[{key}]", item)


def _placed(kind: str, tensor: torch.Tensor) -> dict[Value, Value]:
    return {
        "kind": kind,
        "device": device_of(tensor),
        "shape": list(tensor.shape),
        "bytes": tensor.numel() * tensor.element_size(),
        "requires_grad": tensor.requires_grad,
    }


class UnwritableError(Exception):
    """An argument that has no place in a log."""


class NumberedMemory:
    """Numbers of storages that are alive, and on which device each is."""

    def __init__(self, ended: Callable[[int], None]) -> None:
        self._ended = ended
        self._known: dict[int, list[Any]] = {}
        self._count = 0

    def find(self, tensor: torch.Tensor) -> tuple[int, bool]:
        """Return the number of a tensor's memory, and whether it had one."""
        storage = _storage(tensor)
        found = self._known.get(storage._cdata)
        return (found[0], True) if found is not None else (self._numbered(tensor, storage), False)

    def look(self, tensor: torch.Tensor) -> tuple[int, int, int | None] | None:
        """Return what is known of a tensor's memory: number, device, and its size where it grew.

        None where it has no number yet.
        """
        storage = _storage(tensor)
        found = self._known.get(storage._cdata)
        if found is None:
            return None
        size = storage.nbytes()
        before, found[2] = found[2], size
        return found[0], found[1], size if before != size else None

    def _numbered(self, tensor: torch.Tensor, storage: torch.UntypedStorage) -> int:
        number, key = self._count, storage._cdata
        self._count += 1
        ordinal = tensor.ordinal if isinstance(tensor, VirtualTensor) else -1
        watch = weakref.ref(storage, lambda _: self._forget(key, number))
        self._known[key] = [number, ordinal, storage.nbytes(), watch]
        return number

    def device(self, tensor: torch.Tensor) -> int:
        """Return the device that a tensor's memory is known to be on; −1 for the host's."""
        found = self._known.get(_storage(tensor)._cdata)
        return -1 if found is None else found[1]

    def moved(self, tensor: torch.Tensor, ordinal: int) -> None:
        """Note that memory counts as a device's from now on."""
        self._known[_storage(tensor)._cdata][1] = ordinal

    def _forget(self, key: int, number: int) -> None:
        # Another storage may have the address by now, under a number of its own.
        found = self._known.get(key)
        if found is not None and found[0] == number:
            del self._known[key]
            self._ended(number)


def _storage(tensor: torch.Tensor) -> torch.UntypedStorage:
    if tensor.layout is not torch.strided or tensor.is_conj() or tensor.is_neg():
        raise UnwritableError(f"a tensor of layout {tensor.layout}, or a conjugate view")
    return tensor.untyped_storage()
