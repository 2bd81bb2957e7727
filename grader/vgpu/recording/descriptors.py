"""Entries of a log, read and checked one by one: operations on a list, numbers within bounds.

Defends against: descriptions and numbers that no honest process writes, and operations that are not
on the list. A log comes from a process that may be hostile, and torch's kernels are not all careful
with what autograd alone should hand them. So those that trust their arguments have a guard that
looks first. Nothing is computed here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

Made = tuple[str, int, tuple[int, ...]]
"""Of a tensor's memory: which operation made it, as its how-manieth result, from what shape."""

_WORDS = """
abs acos acosh add addbmm addcdiv addcmul addmm addmv addr all amax amin aminmax any arange argmax
argmin argsort asin asinh atan atan2 atanh avg_pool2d avg_pool2d_backward baddbmm bernoulli
binary_cross_entropy binary_cross_entropy_backward binary_cross_entropy_with_logits bitwise_and
bitwise_not bitwise_or bitwise_xor bmm cat ceil celu clamp clamp_max clamp_min clone
constant_pad_nd conv1d conv2d conv3d convolution convolution_backward copy copy_ cos cosh cumprod
cumsum diag_embed div dot elu elu_backward embedding empty empty_like empty_strided
empty_permuted eq erf erfc exp exp2 expm1 exponential eye fill fill_ flatten flip floor
floor_divide fmod full full_like gather ge gelu gelu_backward ger glu glu_backward gt hardsigmoid
hardsigmoid_backward hardswish hardswish_backward hardtanh hardtanh_backward heaviside
huber_loss huber_loss_backward index index_add index_copy index_fill index_put index_select
is_nonzero isfinite isinf isnan kthvalue l1_loss le leaky_relu leaky_relu_backward lerp linear
linspace log log10 log1p log2 log_softmax _log_softmax _log_softmax_backward_data logical_and
logical_not logical_or logical_xor logsumexp lt masked_fill masked_scatter masked_select matmul max
max_pool2d max_pool2d_with_indices max_pool2d_with_indices_backward maximum mean median min minimum
mm mse_loss mse_loss_backward mul multinomial mv nan_to_num narrow_copy native_batch_norm
_native_batch_norm_legit _native_batch_norm_legit_no_training _batch_norm_impl_index batch_norm
native_batch_norm_backward native_dropout native_dropout_backward native_layer_norm
native_layer_norm_backward layer_norm ne neg new_empty new_empty_strided new_full new_ones
new_zeros nll_loss_forward nll_loss_backward nonzero norm linalg_vector_norm normal normal_
one_hot ones ones_like permute_copy polar pow prod rand rand_like randint randint_like randn
randn_like randperm reciprocal relu remainder repeat repeat_interleave roll round rsqrt rsub
scalar_tensor scatter scatter_add select_backward select_scatter sgn sigmoid sigmoid_backward sign
silu silu_backward sin sinh slice_backward slice_scatter smooth_l1_loss smooth_l1_loss_backward
softmax _softmax _softmax_backward_data softplus softplus_backward sort sqrt square stack std
std_mean sub sum tan tanh tanh_backward threshold threshold_backward topk trace tril triu trunc
uniform uniform_ unique_dim _unique2 var var_mean where xlogy zero zero_ zeros zeros_like
_local_scalar_dense _to_copy _unsafe_index _unsafe_index_put _euclidean_dist _cdist_forward cdist
equal add_relu _addmm_activation _foreach_add _foreach_sub _foreach_mul _foreach_div
_foreach_addcmul _foreach_addcdiv _foreach_sqrt _foreach_neg _foreach_lerp _foreach_zero
_foreach_pow _foreach_reciprocal _foreach_maximum _foreach_clamp_min _foreach_norm _foreach_copy
_fused_sgd _fused_adam _fused_adamw split_with_sizes_copy
scatter_reduce bincount cummax cummin nansum count_nonzero unique_consecutive _unique logaddexp
logaddexp2 mode isin hypot frac tril_indices triu_indices searchsorted bucketize _safe_softmax dist
logcumsumexp linalg_cross _trilinear take multi_margin_loss multi_margin_loss_backward
as_strided select slice view reshape _reshape_alias _unsafe_view permute transpose t expand
unsqueeze squeeze diagonal unbind split split_with_sizes chunk narrow unfold movedim swapaxes
adjoint mT mH numpy_T detach alias view_as expand_as unflatten
"""

LISTED = frozenset(name.rstrip("_") for name in _WORDS.split())
"""Names without the underscore of those that write in place."""

READ = "_local_scalar_dense"
"""Hands a number to Python."""
READS = frozenset({
    READ, "nonzero", "masked_select", "is_nonzero", "equal", "unique_dim",
    "_unique2",
})  # fmt: skip
"""What they tell the process may change what it does next."""


def listed_operation(namespace: str, name: str, overload: str) -> Any:
    """Return an operation by name, or None if it is not on the list."""
    if namespace != "aten" or name.rstrip("_") not in LISTED:
        return None
    packet = getattr(torch.ops.aten, name, None)
    return getattr(packet, overload or "default", None)


class UnsafeError(ValueError):
    """Arguments that only a broken or hostile log has."""


def check_arguments(
    name: str,
    args: tuple[Any, ...],
    named: Mapping[str, Any],
    made: Callable[[torch.Tensor], Made | None],
) -> None:
    """Look at arguments that a kernel would not look at.

    Args:
        name: Of the operation.
        args: Its arguments.
        named: Those that have a name.
        made: Tells of a tensor's memory what made it, if nothing has written there since.

    Raises:
        UnsafeError: They do not fit together.
    """
    check = _GUARDS.get(name.rstrip("_"))
    if check is None:
        return
    # torch names no argument that may stand in order. One with a name would go by the guard.
    apart = (value for key, value in named.items() if key != "lr")
    hidden = "reduction" in named or any(isinstance(value, (list, torch.Tensor)) for value in apart)
    if hidden or not check(args, made):
        raise UnsafeError(f"the arguments of {name} do not fit together")


def _pooled(args: tuple[Any, ...], made: Callable[[torch.Tensor], Made | None]) -> bool:
    gradient, inputs, indices = args[0], args[1], args[7]
    origin = "max_pool2d_with_indices", 1, tuple(inputs.shape)
    # Only indices that the pooling itself made of this input: the kernel writes wherever they
    # point.
    return made(indices) == origin and gradient.shape == indices.shape and _whole(indices)


def _normalised(args: tuple[Any, ...], _: Any) -> bool:
    gradient, inputs, weight, *each = args[:7]
    channels = tuple(inputs.shape[1:2])
    fit = all(item is None or tuple(item.shape) in (channels, (0,)) for item in each)
    statistics = each[2:] if args[7] else each[:2]
    given = all(item is not None and tuple(item.shape) == channels for item in statistics)
    weighted = weight is None or tuple(weight.shape) == channels
    return fit and given and weighted and gradient.shape == inputs.shape


def _layer_normalised(args: tuple[Any, ...], _: Any) -> bool:
    gradient, inputs, shape, mean, rstd, weight, bias = args[:7]
    rows = inputs.numel() // max(1, torch.Size(shape).numel())
    fit = all(item is None or tuple(item.shape) == tuple(shape) for item in (weight, bias))
    sizes = mean.numel() == rstd.numel() == rows
    return fit and sizes and gradient.shape == inputs.shape


def _normalises(args: tuple[Any, ...], _: Any) -> bool:
    inputs, *each = args
    # Weight, bias and statistics, some of them left out; then whether it trains, by some overloads.
    given = [item for item in each[:4] if isinstance(item, torch.Tensor)]
    statistics = [item for item in each[2:4] if isinstance(item, torch.Tensor)]
    trains = next((item for item in each if isinstance(item, bool)), False)
    fit = all(tuple(item.shape) == tuple(inputs.shape[1:2]) for item in given)
    return inputs.dim() > 1 and fit and (trains or len(statistics) == 2)


def _of_one_shape(args: tuple[Any, ...], _: Any) -> bool:
    return bool(args[0].shape == args[1].shape)


def _of_targets(args: tuple[Any, ...], _: Any) -> bool:
    gradient, target, reduced = args[0], args[2], args[6] if len(args) > 6 else 1
    # The kernel reads one number a row, however many there are.
    return bool(gradient.shape == target.shape) or (reduced != 0 and gradient.numel() == 1)


def _stepped(args: tuple[Any, ...], _: Any) -> bool:
    parameters = [item.shape for item in args[0]]
    others = [item for item in args[1:5] if item]
    fit = all([item.shape for item in other] == parameters for other in others)
    # The kernel goes through memory from a tensor's first element, whatever its strides.
    inside = all(_lies_inside(item) for other in args[:5] for item in other)
    return fit and inside and all(item.numel() for steps in args[5:] for item in steps)


def _lies_inside(tensor: torch.Tensor) -> bool:
    end = (tensor.storage_offset() + tensor.numel()) * tensor.element_size()
    return end <= tensor.untyped_storage().nbytes()


def _repeated(args: tuple[Any, ...], _: Any) -> bool:
    repeats = args[min(1, len(args) - 1)]
    if not isinstance(repeats, torch.Tensor):
        return True
    # In floats: a sum beyond 64 bits would look small.
    return bool((repeats >= 0).all()) and float(repeats.double().sum()) <= MOST_MEMORY


def _whole(tensor: torch.Tensor) -> bool:
    return tensor.storage_offset() == 0 and tensor.untyped_storage().nbytes() == (
        tensor.numel() * tensor.element_size()
    )


_GUARDS: dict[str, Callable[[tuple[Any, ...], Any], bool]] = {
    "max_pool2d_with_indices_backward": _pooled,
    "native_batch_norm_backward": _normalised,
    "native_layer_norm_backward": _layer_normalised,
    "native_batch_norm": _normalises,
    "_native_batch_norm_legit": _normalises,
    "_native_batch_norm_legit_no_training": _normalises,
    "_log_softmax_backward_data": _of_one_shape,
    "multi_margin_loss_backward": _of_targets,
    "_fused_adam": _stepped,
    "_fused_adamw": _stepped,
    "_fused_sgd": _stepped,
    "repeat_interleave": _repeated,
}


NO_LINK = -1
"""Where an entry's number is none of those that left torch."""
MOST_ENTRIES = 500_000
MOST_MEMORY = 2**31
"""Bytes that one storage may have."""
_MOST_RANK = 16
_MOST_DEPTH = 8
_STATISTICS = frozenset({"running_mean", "running_var"})
# Kind of entry → number of its fields.
_FIELDS = {
    "leaf": 4, "constant": 4, "move": 9, "home": 2, "size": 2, "free": 1, "begin": 3, "end": 4,
    "output": 3, "number": 3, "link": 3, "place": 5, "op": 6, "Synchronisation": 3, "Mark": 3,
}  # fmt: skip


class MalformedError(ValueError):
    """A log that no honest process writes."""


@dataclass(frozen=True, slots=True)
class LoggedLayout:
    """How a tensor lies in its memory.

    Attributes:
        size: Bytes of memory that is made here; None where it is there already.
    """

    dtype: torch.dtype
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    size: int | None = None

    @property
    def end(self) -> int:
        """Bytes of memory that it needs."""
        last = sum((n - 1) * step for n, step in zip(self.shape, self.stride, strict=True))
        elements = self.offset + last + 1 if 0 not in self.shape else 0
        return elements * self.dtype.itemsize

    @property
    def dense(self) -> bool:
        """Whether its elements lie side by side, in whatever order, and none twice."""
        expected = 1
        for step, n in sorted(zip(self.stride, self.shape, strict=True)):
            if n != 1 and step != expected:
                return False
            expected *= n
        return True


@dataclass(frozen=True, slots=True)
class Described:
    """An entry without its numbers.

    Attributes:
        kind: ``op``, ``move`` and so on, as ``grader.vgpu.recording.recorder`` writes them.
        fields: What it says, layouts replaced by numbers of ``layouts``.
        layouts: Of the memory that it names, in order.
        floats: Numbers that it takes.
        function: Of an operation: torch's own, None where it is not on the list.
        written: Of an operation: places in ``layouts`` that it writes to.
        made: Of an operation: the first place in ``layouts`` of its results.
    """

    kind: str
    fields: tuple[Any, ...]
    layouts: tuple[LoggedLayout | None, ...]
    floats: int = 0
    function: Any = None
    written: frozenset[int] = frozenset()
    made: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: its description, the memory it names, its numbers.

    Attributes:
        links: For each of the numbers, which of those that left torch before it is; −1 for none.
    """

    what: Described
    handles: tuple[int, ...]
    numbers: tuple[float, ...]
    links: tuple[int, ...] = ()

    def linked(self) -> Iterator[int]:
        """Yield which of the numbers that left torch come back in."""
        yield from self.what.fields[2] if self.what.kind == "link" else self.links

    def read(self) -> tuple[int, ...]:
        """Return the memory that an operation is given."""
        return self.handles[: self.what.made]

    def changed(self) -> Iterator[int]:
        """Yield the memory that an operation writes to."""
        for place, handle in enumerate(self.handles):
            if place in self.what.written:
                yield handle

    def fresh(self) -> Iterator[int]:
        """Yield the memory that it makes."""
        for layout, handle in zip(self.what.layouts, self.handles, strict=True):
            if layout is not None and layout.size is not None:
                yield handle


def read_entries(data: Mapping[Any, Any], *, linked: bool = False) -> list[Entry]:
    """Return the entries that a process reported.

    Args:
        data: What it reported.
        linked: Numbers that left torch and came back are what they will be then, not what they
            were.

    Raises:
        MalformedError: They are none.
    """
    try:
        descriptors = [_described(json.loads(line)) for line in data["descriptors"].splitlines()]
        numbers = data["numbers"].tolist()
        links = data["links"].tolist() if linked else [NO_LINK] * len(numbers)
        if len(links) != len(numbers):
            raise MalformedError("links of other numbers")
        found = _entries(descriptors, data["entries"].tolist(), numbers, links)
        return [entry for entry in found if linked or entry.what.kind != "link"]
    # RecursionError: what text nested a thousand deep does to the parser.
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        raise MalformedError(f"{type(error).__name__}: {error}"[:200]) from None


def _entries(
    descriptors: list[Described], stream: list[int], numbers: list[float], links: list[int]
) -> Iterator[Entry]:
    place = used = count = 0
    while place < len(stream):
        count += 1
        number = stream[place]
        # Each entry costs an operation in the stage: unbounded, one submission could hold up a
        # class.
        if not 0 <= number < len(descriptors) or count > MOST_ENTRIES:
            raise MalformedError("an entry without a description, or too many")
        what = descriptors[number]
        handles = tuple(stream[place + 1 : place + 1 + len(what.layouts)])
        if len(handles) != len(what.layouts) or min(handles, default=0) < 0:
            raise MalformedError("an entry is not complete")
        until = used + what.floats
        yield Entry(what, handles, tuple(numbers[used:until]), tuple(links[used:until]))
        place, used = place + 1 + len(handles), until
    if used != len(numbers):
        raise MalformedError("numbers that belong to no entry")


def _described(data: Any) -> Described:
    kind = data[0]
    if not isinstance(kind, str) or len(data) != _FIELDS.get(kind):
        raise MalformedError("an entry of no known kind")
    layouts: list[LoggedLayout | None] = []
    if kind == "op":
        return _operation(data, layouts)
    if kind in ("home", "size", "free", "constant", "link"):
        return _memory(data)
    if kind == "leaf":
        layouts.append(_layout_of([*data[2], data[3]]))
    elif kind == "move":
        layouts += _layout_of(data[1][1:]), _layout_of([*data[2], data[3]])
        _naturals((*data[4:8], *data[8]), least=-1)
        return Described(kind, ("move", None, None, *data[4:]), tuple(layouts), made=1)
    elif kind in ("output", "place"):
        layouts.append(_layout_of(data[2 if kind == "output" else 3][1:]))
    elif kind == "end":
        layouts += [_layout_of(item[1][1:]) for item in data[2]]
        layouts += [_layout_of(item[1:]) for item in data[3]]
    return Described(kind, tuple(data), tuple(layouts))


def _memory(data: Any) -> Described:
    """Return what is said of one storage as a whole."""
    kind = data[0]
    if kind == "link":
        _naturals(data[2], least=0)
        return Described(kind, (kind, _dtype(data[1]), tuple(data[2])), (None,))
    _naturals(data[1:], least=-1)
    return Described(kind, tuple(data), (None,) if kind != "constant" else (_bytes(data[2]),))


def _operation(data: Any, layouts: list[LoggedLayout | None]) -> Described:
    _, name, args, named, results, place = data
    # From a list, by name: a log must not choose which code runs here.
    function = listed_operation(*name)
    floats = [0]
    given = _node(args, layouts, floats)
    kwargs = {str(key): _node(value, layouts, floats) for key, value in named}
    made = len(layouts)
    layouts += [_layout_of(item[1:]) for item in results]
    # An operation that is not on the list may write anywhere; assume all, or lineage would miss it.
    written = _written(function, given, kwargs) if function is not None else range(len(layouts))
    _naturals(place, least=0)
    fields = ("op", str(name[1]), given, kwargs, tuple(place))
    return Described("op", fields, tuple(layouts), floats[0], function, frozenset(written), made)


def _node(data: Any, layouts: list[LoggedLayout | None], floats: list[int], depth: int = 0) -> Any:
    """Return a value as it will be filled in: ``("t", place)`` for a tensor, and so on."""
    if depth > _MOST_DEPTH:
        raise MalformedError("arguments nested too deep")
    sort = data[0]
    if sort == "t":
        layouts.append(_layout_of(data[1:]))
        return "t", len(layouts) - 1
    if sort == "f":
        floats[0] += 1
        return "f", floats[0] - 1
    if sort == "l":
        return "l", [_node(item, layouts, floats, depth + 1) for item in data[1]]
    return "v", _STATIC[sort](*data[1:])


def _plain(value: Any) -> Any:
    if value is not None and type(value) not in (int, str):
        raise MalformedError("an argument of no known sort")
    return value


def _memory_format(name: Any) -> Any:
    # From a list: by a name of the log's choice, getattr would reach anything of torch's.
    if name not in ("contiguous_format", "preserve_format", "channels_last"):
        raise MalformedError("no memory format")
    return getattr(torch, name)


def _written(function: Any, args: Any, kwargs: Mapping[str, Any]) -> Iterator[int]:
    declared = function._schema.arguments
    given = dict(zip((item.name for item in declared), args[1], strict=False))
    given.update(kwargs)
    for item in declared:
        writes = item.alias_info is not None and item.alias_info.is_write
        # Their declaration does not say so.
        trains = item.name in _STATISTICS and given.get("training") == ("v", True)
        if (writes or trains) and item.name in given:
            yield from places(given[item.name])


def places(node: Any) -> Iterator[int]:
    """Yield the numbers of the tensors in an argument."""
    if node[0] == "t":
        yield node[1]
    elif node[0] == "l":
        for item in node[1]:
            yield from places(item)


def _layout_of(data: Any) -> LoggedLayout:
    name, offset, shape, stride, *size = data
    _naturals((offset, *shape, *stride, *size), least=0)
    if len(shape) != len(stride) or len(shape) > _MOST_RANK or len(size) > 1:
        raise MalformedError("a layout that is none")
    if size and size[0] > MOST_MEMORY:
        raise MalformedError(f"memory of more than {MOST_MEMORY} bytes")
    found = LoggedLayout(_dtype(name), offset, tuple(shape), tuple(stride), *size)
    # set_() does not check: a tensor beyond its memory would read what else lies in this process.
    if size and found.end > size[0]:
        raise MalformedError("a layout beyond its memory")
    return found


def _bytes(size: int) -> LoggedLayout:
    return _layout_of(("uint8", 0, (size,), (1,), size))


DTYPES = frozenset({
    "bool", "uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64", "complex32",
    "complex64", "complex128",
})  # fmt: skip


def _dtype(name: Any) -> torch.dtype:
    # Likewise: of torch's attributes, only dtypes are within reach of a log.
    if name not in DTYPES:
        raise MalformedError(f"no dtype: {name!r:.20}")
    found: torch.dtype = getattr(torch, name)
    return found


_STATIC: Mapping[str, Callable[..., Any]] = {
    "b": bool, "v": _plain, "d": _dtype, "m": _memory_format, "n": lambda: None,
}  # fmt: skip
"""Arguments that are the same in every call of a description."""


def _naturals(values: Iterable[Any], least: int) -> None:
    for value in values:
        # Bounded, so that sums and products of sizes stay far from overflow in torch's 64 bits.
        if type(value) is not int or not least <= value < 2**40:
            raise MalformedError("a number out of bounds")
