"""Relations between a wrong answer and the right one, where the numbers prove them.

A relation is a message id, carried as ``cause`` among a verdict's parameters; ``grader.report`` has
its sentence. Nothing here reads code, and nothing tells what the inputs were: a relation holds
between two arrays, such as “the one is the other's transpose”. Its sentence says no more than that:
many programs give the same numbers, so the reason is for the author's known mistakes to tell
(``grader.run.mistakes``).

Each recogniser returns the parameters that its relation adds to a message, or None. They are tried
in order, the most telling first. A relation that any two numbers have (a constant ratio, say)
counts only where there are enough different numbers for it to be no accident. ``across_cases``
keeps a relation only where every failed case shows it, and a factor or a pattern only where two do.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grader.checks.arrays import Array
from grader.checks.base import CaseInputs
from grader.checks.compare import CLOSE, inexact, numbers_close
from grader.verdict import Code, Message, Param, Status, Verdict, number, plain
from grader.wire.tree import tensors
from grader.wire.values import Opaque, Tensor, Value

_SIZES = ("factor", "offset", "short_by")
_TOLD_TWICE = frozenset({
    "scaled", "offset", "truncated", "reversed", "rows_permuted", "columns_permuted", "only_last",
    "only_first", "opposite",
})  # fmt: skip
"""Relations that one case may show by accident: two failed cases have to."""
_MOST = 2**20
"""Elements; beyond that the looking costs more than the hint is worth."""

Params = dict[str, Param]


def with_cause(params: Params, case: CaseInputs, actual: Array, expected: Array) -> Params:
    """Return the parameters with a relation among them, if one is recognised.

    Args:
        params: Of a message on wrong numbers or a wrong shape.
        case: The host's inputs, of which only the sizes are used.
        actual: What was returned.
        expected: What was right.
    """
    if max(actual.size, expected.size) > _MOST or not actual.size or not expected.size:
        return params
    if object in (actual.dtype, expected.dtype):
        return params
    pair = ArrayPair(actual, expected, tuple(tensor.shape for tensor in tensors(case.args)))
    return {**params, **_recognised(pair)}


def _recognised(pair: ArrayPair) -> dict[str, Param]:
    try:
        with np.errstate(all="ignore"):
            same = pair.actual.shape == pair.expected.shape
            found = by_value(pair) if same else by_shape(pair)
    except Exception:  # noqa: BLE001  # a wrong answer stays wrong, whatever a hint trips over
        return {}
    return found or {}


def dtype_cause(actual: str, expected: str) -> dict[str, Param]:
    """Return why a dtype may have become another one."""
    if actual == "float32" and expected in ("float64", "int64", "int32"):
        return {"cause": "dtype_lost"}
    if actual.startswith(("int", "uint")) and expected.startswith(("float", "bfloat")):
        return {"cause": "dtype_whole"}
    return {}


def device_cause(actual: str, expected: str) -> dict[str, Param]:
    """Return why a tensor may be where it should not."""
    if actual.startswith("cuda") and expected == "cpu":
        return {"cause": "left_on_gpu"}
    if actual == "cpu" and expected.startswith("cuda"):
        return {"cause": "never_on_gpu"}
    return {}


_NO_CUDA = ("not compiled with CUDA", "No CUDA GPUs are available", "no NVIDIA driver")
_NO_MPS = "support for mps"
_CALLED = re.compile(
    r"(\w+)(?:\.(?:__init__|__call__|[a-zA-Z]\w*))?\(\) (?:missing|takes) .*\bargument"
)
"""What Python says of a call that a signature does not allow; a method's name has its class."""
_NO_SUCH_GPU = "invalid device ordinal"
_BY_NUMPY = re.compile(
    r"(?:sum|prod|mean|std|var|max|min|argmax|argmin|any|all|cumsum|cumprod)\(\) "
    r"(?:got an unexpected keyword argument 'axis'|received an .*\bout=NoneType, axis=)"
)
"""What torch says where a function of NumPy hands a tensor's method its own keywords."""
_SHAPES_MEET = re.compile(r"The size of tensor a \(\d+\) must match the size of tensor b")
_BACKWARDS = "step must be greater than zero"
_TWO_VECTORS = "1D tensors expected, but got"
_OF_A_CLASS = "missing 1 required positional argument: 'self'"
_NO_NAME = re.compile(r"(?:'Tensor' object|module 'torch') has no attribute '(\w+)'")
_TORCHS_NAMES = {
    "argpartition": "topk", "array": "torch.tensor", "astype": "to", "copy": "clone",
    "expand_dims": "unsqueeze", "flat": "flatten", "power": "pow", "repeat": "repeat_interleave",
}  # fmt: skip
"""Names that NumPy has and torch has not → the name that torch has for it."""
MEANT = ". Did you mean: "
"""What stands between an exception's text and the name that is most like the one it lacks."""
_NOBODY_TYPES = "when reading a line"
"""In Python's message where ``input()`` finds no terminal."""


def call_cause(said: str, function: str, file: str) -> dict[str, Param]:
    """Return what the exception of a call shows of its cause.

    Args:
        said: Its text.
        function: The function or class that was called.
        file: The student's file that it was raised in; empty where none of the student's code ran.
    """
    called = _CALLED.match(said)
    # With a line in the student's file, it may be the student who calls it otherwise.
    if called and called[1] == function and not file:
        return {"cause": "other_parameters"}
    if file and _BY_NUMPY.match(said):
        return {"cause": "numpy_of_tensor"}
    return _torchs_rule(said) or exception_cause(said)


def calls_otherwise(said: str, function: str) -> dict[str, Param]:
    """Return whether an exception says that a function has other parameters than it is called with.

    Args:
        said: The text of an exception that was raised where the assignment's own code called.
        function: The function or class that is asked for.
    """
    called = _CALLED.match(said)
    return {"cause": "other_parameters"} if called and called[1] == function else {}


def _torchs_rule(said: str) -> dict[str, Param]:
    """Return the rule of Python or torch that an exception's text says was broken."""
    if _SHAPES_MEET.match(said):
        return {"cause": "shapes_meet"}
    if said == _BACKWARDS:
        return {"cause": "backwards"}
    if said.startswith(_TWO_VECTORS):
        return {"cause": "two_vectors"}
    if said.endswith(_OF_A_CLASS):
        return {"cause": "class_for_object"}
    lacks = _NO_NAME.match(said)
    if lacks and lacks[1] in _TORCHS_NAMES:
        return {"cause": "numpys_name", "numpys": lacks[1], "torchs": _TORCHS_NAMES[lacks[1]]}
    return {}


def exception_cause(said: str) -> dict[str, Param]:
    """Return what an exception's text shows of its cause: a device, or a person, not there."""
    if _NO_SUCH_GPU in said:
        return {"cause": "no_such_gpu"}
    if any(part in said for part in _NO_CUDA):
        return {"cause": "no_cuda_here"}
    if _NOBODY_TYPES in said:
        return {"cause": "nobody_types"}
    return {"cause": "no_mps_here"} if _NO_MPS in said else {}


def type_cause(actual: Value, expected: Value) -> dict[str, Param]:
    """Return why a value may be of another type."""
    if isinstance(actual, Tensor) and isinstance(expected, (bool, int, float)):
        return {"cause": "tensor_for_number"}
    if isinstance(actual, Opaque) and actual.type.startswith("numpy."):
        if isinstance(expected, (bool, int, float)):
            return {"cause": "numpy_for_number"}
        if actual.type == "numpy.ndarray":
            return {"cause": "numpy_for_tensor"}
    if isinstance(actual, dict) and isinstance(expected, dict):
        return _other_keys(actual, expected)
    if not isinstance(expected, Tensor):
        return {}
    if isinstance(actual, tuple) and (alike_ones := _of_its_form(actual, expected)):
        return {"cause": "one_of_several", "item": alike_ones[0]} if len(alike_ones) == 1 else {}
    return {"cause": "list_for_tensor"} if _makes_one_tensor(actual) else {}


_KEY_CAP = 40


def _other_keys(actual: Mapping[Value, Value], expected: Mapping[Value, Value]) -> dict[str, Param]:
    """Return which keys are missing and which too many, where some are right."""
    found, wanted = ({repr(key): None for key in keys} for keys in (actual, expected))
    if not found.keys() & wanted.keys():
        return {}
    missing: list[Param] = [plain(key[:_KEY_CAP]) for key in wanted if key not in found]
    surplus: list[Param] = [plain(key[:_KEY_CAP]) for key in found if key not in wanted]
    return {"cause": "other_keys", "missing": missing, "surplus": surplus}


def _of_its_form(values: Sequence[Value], expected: Tensor) -> list[int]:
    """Return the places of tensors that have the shape and dtype that are asked for."""
    form = expected.shape, expected.dtype
    return [
        place
        for place, value in enumerate(values)
        if isinstance(value, Tensor) and (value.shape, value.dtype) == form
    ]


def _makes_one_tensor(value: Value) -> bool:
    """Whether a list holds tensors of one shape, or numbers, or such lists."""
    if not isinstance(value, (list, tuple)) or not value:
        return False
    if all(isinstance(item, Tensor) for item in value):
        return len({item.shape for item in value if isinstance(item, Tensor)}) == 1
    return all(isinstance(item, (int, float)) or _makes_one_tensor(item) for item in value)


def across_cases(judged: Sequence[tuple[CaseInputs, Verdict]], combined: Verdict) -> Verdict:
    """Return the verdict over all cases, with what all of them together show.

    A relation that one failed case shows and another does not is left out: it may be an accident
    of the one's numbers. So is a factor or a pattern that a single failed case shows.

    Args:
        judged: Inputs and verdict of every case that the check judges.
        combined: The verdict over all of them.
    """
    message = combined.message
    if combined.code not in (Code.WRONG_VALUE, Code.WRONG_SHAPE) or message is None:
        return combined
    failures = [(case, verdict) for case, verdict in judged if verdict.status is Status.FAILED]
    params = _shared([verdict for _, verdict in failures], message.params)
    right = [_square(case) for case, verdict in judged if verdict.status is Status.PASSED]
    if right and all(right) and not any(_square(case) for case, _ in failures):
        params = {**params, "cause": "square_only"}
    return replace(combined, message=Message(message.id, params))


def _shared(failures: Sequence[Verdict], params: Mapping[str, Param]) -> Mapping[str, Param]:
    """Return the parameters without a relation, or its size, that not all failures have."""
    others = [verdict.message.params if verdict.message else {} for verdict in failures]
    same = "cause" in params and all(other.get("cause") == params["cause"] for other in others)
    same = same and (len(others) > 1 or params["cause"] not in _TOLD_TWICE)
    return {
        name: value
        for name, value in params.items()
        if (name not in ("cause", *_SIZES) or same)
        and (name not in _SIZES or all(other.get(name) == value for other in others))
    }


def _square(case: CaseInputs) -> bool:
    """Tell whether all matrices among the inputs are square, and there is one."""
    shapes = [tensor.shape[-2:] for tensor in tensors(case.args) if len(tensor.shape) >= 2]
    return bool(shapes) and all(rows == columns > 1 for rows, columns in shapes)


Recognise = Callable[["ArrayPair"], "Params | None"]

_TELLING = 3
_SINGLE = 2.0**-22
_FINER = 2.0**-30


@dataclass(frozen=True, slots=True)
class ArrayPair:
    """Two arrays to compare.

    Attributes:
        actual: What was returned.
        expected: What was right.
        inputs: Shapes of the tensors that went in.
    """

    actual: Array
    expected: Array
    inputs: tuple[tuple[int, ...], ...] = ()


def by_value(pair: ArrayPair) -> Params | None:
    """Return the relation where both have one shape."""
    actual, expected = pair.actual, pair.expected
    # First: beside a NaN no relation below holds.
    if not np.isfinite(actual).all():
        return _lost(actual, expected)
    if not np.isfinite(expected).all():
        return None
    if numbers_close(actual, expected):
        return _single_precision(actual, expected)
    return first(_BY_VALUE, pair)


def first(recognisers: tuple[Recognise, ...], pair: ArrayPair) -> Params | None:
    """Return what the first of several recognisers tells."""
    found = (recognise(pair) for recognise in recognisers)
    return next((cause for cause in found if cause is not None), None)


def telling(array: Array) -> bool:
    """Tell whether there are enough different numbers for a relation to be no accident."""
    # The first thousand are enough; sorting a million costs more than a hint is worth.
    return np.unique(array.reshape(-1)[:1000]).size >= _TELLING


def _lost(actual: Array, expected: Array) -> Params | None:
    nan = np.isnan(actual) & np.isfinite(expected)
    if nan.any():
        return {"cause": "nan_all" if nan.all() else "nan_some"}
    return {"cause": "infinite"} if np.isfinite(expected).all() else None


def _single_precision(actual: Array, expected: Array) -> Params | None:
    """Recognise float64 that was float32 on the way, by the size of the error."""
    if expected.dtype.kind not in "fc" or expected.dtype.itemsize < 8:
        return None
    if not telling(expected) or not numbers_close(actual, expected, _SINGLE):
        return None
    apart = np.abs(actual - expected).max() / np.abs(expected).max()
    return {"cause": "single_precision"} if apart > _FINER else None


def _zero(pair: ArrayPair) -> Params | None:
    # Of a lone number the message says already that it is 0.
    lone = not pair.actual.shape
    return None if lone or pair.actual.any() else {"cause": "all_zero"}


def _opposite(pair: ArrayPair) -> Params | None:
    """Recognise False where True is right and the other way round, in numbers 0 and 1 too."""
    actual, expected = pair.actual, pair.expected
    if expected.dtype.kind != "b" or actual.dtype.kind not in "biuf":
        return None
    return {"cause": "opposite"} if (actual == ~expected).all() else None


def _truncated(pair: ArrayPair) -> Params | None:
    actual, expected = pair.actual, pair.expected
    if expected.dtype.kind != "f" or actual.dtype.kind not in "fiu":
        return None
    if not telling(actual) or (expected == np.trunc(expected)).all():
        return None
    whole = (np.trunc(expected), np.floor(expected), np.round(expected))
    return {"cause": "truncated"} if any((actual == other).all() for other in whole) else None


def _rooted(pair: ArrayPair) -> Params | None:
    actual, expected = pair.actual, pair.expected
    if not telling(expected) or "c" in actual.dtype.kind + expected.dtype.kind:
        return None
    if (expected >= 0).all() and numbers_close(actual, np.sqrt(inexact(expected))):
        return {"cause": "rooted"}
    return {"cause": "squared"} if numbers_close(actual, inexact(expected) ** 2) else None


def _scaled(pair: ArrayPair) -> Params | None:
    actual, expected = pair.actual, pair.expected
    if not telling(expected) or "c" in actual.dtype.kind + expected.dtype.kind:
        return None
    # At the greatest number, where rounding weighs least.
    at = int(np.abs(expected).argmax())
    factor = float(actual.flat[at]) / float(expected.flat[at])
    if (
        not math.isfinite(factor)
        or factor == 0
        or not numbers_close(actual, factor * inexact(expected))
    ):
        return None
    if abs(factor + 1) < CLOSE:
        return {"cause": "negated"}
    return {"cause": "scaled", "factor": number(float(f"{factor:.3g}"))}


def _offset(pair: ArrayPair) -> Params | None:
    actual, expected = pair.actual, pair.expected
    if not telling(expected) or "c" in actual.dtype.kind + expected.dtype.kind:
        return None
    apart = float(actual.flat[0]) - float(expected.flat[0])
    if not numbers_close(actual, inexact(expected) + apart):
        return None
    return {"cause": "offset", "offset": number(float(f"{apart:.3g}"))}


def transposed(pair: ArrayPair) -> Params | None:
    """Recognise swapped rows and columns, of a matrix or of every matrix of a batch."""
    if pair.actual.ndim < 2 or pair.actual.ndim != pair.expected.ndim:
        return None
    # In a batch, to move an axis of size 1 is no transpose: the axis stands at another place.
    if pair.actual.ndim > 2 and 1 in pair.actual.shape[-2:]:
        return None
    other = pair.actual.swapaxes(-1, -2)
    return {"cause": "transposed"} if numbers_close(other, pair.expected) else None


def _reordered(pair: ArrayPair) -> Params | None:
    actual, expected = pair.actual, pair.expected
    if not telling(expected):
        return None
    for axis in range(min(expected.ndim, 2)):
        if numbers_close(np.flip(actual, axis), expected):
            return {"cause": "reversed"}
        if _same_slices(actual, expected, axis):
            return {"cause": "columns_permuted" if axis else "rows_permuted"}
    return None


def _same_slices(actual: Array, expected: Array, axis: int) -> bool:
    """Tell whether both have the same slices along an axis, in whatever order."""
    return numbers_close(_ordered_slices(actual, axis), _ordered_slices(expected, axis))


def _ordered_slices(array: Array, axis: int) -> Array:
    """Return an array's slices along an axis, each flat, in order of their sums."""
    slices = np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)
    # By the whole slice, so that rounding in one column does not change the order.
    return slices[np.argsort(slices.sum(axis=1), kind="stable")]


def _one_item(pair: ArrayPair) -> Params | None:
    """Recognise that of several items only the last, or only the first, is right."""
    actual, expected = pair.actual, pair.expected
    if expected.ndim < 2 or len(expected) < 2 or not telling(expected):
        return None
    right = [numbers_close(*items) for items in zip(actual, expected, strict=True)]
    if right == [False] * (len(right) - 1) + [True]:
        return {"cause": "only_last"}
    return {"cause": "only_first"} if right == [True] + [False] * (len(right) - 1) else None


_BY_VALUE = (
    _opposite, _zero, _truncated, _rooted, _scaled, _offset, transposed, _reordered, _one_item,
)  # fmt: skip


def by_shape(pair: ArrayPair) -> Params | None:
    """Return the relation where the shapes differ."""
    return first(_BY_SHAPE, pair)


def _extra_axis(pair: ArrayPair) -> Params | None:
    actual, expected = pair.actual, pair.expected
    if actual.size != expected.size or not numbers_close(actual.squeeze(), expected.squeeze()):
        return None
    if actual.ndim == expected.ndim:
        return None
    return {"cause": "extra_axis" if actual.ndim > expected.ndim else "missing_axis"}


def _ends(pair: ArrayPair) -> Params | None:
    actual, expected = pair.actual, pair.expected
    if not actual.ndim or not expected.ndim or actual.shape[1:] != expected.shape[1:]:
        return None
    if len(actual) == len(expected) - 1:
        if numbers_close(actual, expected[:-1]):
            return {"cause": "exclusive_end"}
        return {"cause": "exclusive_start"} if numbers_close(actual, expected[1:]) else None
    if len(actual) == len(expected) + 1 and numbers_close(actual[:-1], expected):
        return {"cause": "one_too_many"}
    short_by = len(expected) - len(actual)
    if short_by > 1 and telling(actual) and numbers_close(actual, expected[:-short_by]):
        return {"cause": "cut_short", "short_by": short_by}
    return None


def _single_item(pair: ArrayPair) -> Params | None:
    actual, expected = pair.actual, pair.expected
    if expected.ndim != actual.ndim + 1 or len(expected) < 2 or not telling(expected):
        return None
    if numbers_close(actual, expected[-1]):
        return {"cause": "only_last"}
    return {"cause": "only_first"} if numbers_close(actual, expected[0]) else None


def _other_reduction(pair: ArrayPair) -> Params | None:
    """Recognise the shapes of a reduction along another axis."""
    for shape in pair.inputs:
        reduced = [shape[:axis] + shape[axis + 1 :] for axis in range(len(shape))]
        kept = [(*shape[:axis], 1, *shape[axis + 1 :]) for axis in range(len(shape))]
        for shapes in (reduced, kept):
            if pair.actual.shape in shapes and pair.expected.shape in shapes and len(shape) > 1:
                return {"cause": "wrong_axis"}
    return None


_BY_SHAPE = (transposed, _extra_axis, _ends, _single_item, _other_reduction)
