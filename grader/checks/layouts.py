"""Where tensors lie in memory, as the guest tells it, held against the numbers that it sent.

A layout is a claim. What can be checked of it is: if a result shares the memory of an argument,
then its elements are those of the argument at the positions that the layout names.
"""

from __future__ import annotations

import math

import numpy as np

from grader.checks.arrays import Array, same_bytes
from grader.checks.base import CaseInputs
from grader.checks.findings import finding
from grader.checks.inputs import ArgumentRef, UnfitCaseError
from grader.observation import Observation
from grader.verdict import Basis, Code, Message, Owner, Verdict, fault
from grader.wire.values import ITEMSIZE, Layout, Tensor

_UNREPORTED = "where the tensors lie in memory was not reported"


def argument_after(case: CaseInputs, which: ArgumentRef, seen: Observation) -> Tensor | None:
    """Return an argument as it stood after the call, or None where the guest does not say.

    Raises:
        UnfitCaseError: The case has no such argument.
    """
    if isinstance(which, str) and which not in case.names:
        known = ", ".join(case.names)
        raise UnfitCaseError(f"case “{case.id}” has no argument “{which}”; it has {known}")
    position = case.names.index(which) if isinstance(which, str) else which
    if position >= len(case.args):
        raise UnfitCaseError(f"case “{case.id}” has only {len(case.args)} arguments")
    after = seen.claims.args_after
    if after is None or len(after) != len(case.args):
        return None
    value = after[position]
    return value if isinstance(value, Tensor) and value.layout is not None else None


def unreported(reference: Observation) -> Verdict:
    """Return the verdict where layouts are missing: the grader's fault if the reference's are."""
    told = {"detail": _UNREPORTED}
    if reference.claims.args_after is None:
        message = Message("sandbox_failed", told)
        return fault(Code.SANDBOX_FAILED, Owner.INFRASTRUCTURE, message)
    return finding(Code.PROTOCOL_VIOLATION, "protocol_violation", told, Basis.CLAIM)


def unfit(error: UnfitCaseError) -> Verdict:
    """Return the verdict where a case is not fit for a check."""
    message = Message("reference_failed", {"detail": str(error)})
    return fault(Code.REFERENCE_FAILED, Owner.INSTRUCTOR, message)


def shares(view: Tensor, base: Tensor) -> bool:
    """Whether two tensors of one reply share memory, their numbers agreeing with that.

    Where they do not agree the claim is false, and the answer is no.
    """
    if view.layout is None or base.layout is None or view.layout.storage != base.layout.storage:
        return False
    if view.dtype != base.dtype or not _whole(base):
        return True  # another reading of the memory: not to be checked from here
    if 0 in view.shape:
        return True
    if _last_place(view.layout, view.shape) >= math.prod(base.shape):
        return False
    return np.array_equal(_laid_out(view.layout, view.shape, base), _elements(view))


def same_place(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors of one reply are the same elements in the same order."""
    alike = one.shape == other.shape and one.dtype == other.dtype and one.layout is not None
    return alike and one.layout == other.layout and same_bytes(one.data, other.data)


def _whole(base: Tensor) -> bool:
    """Whether a tensor is its storage from the first element on, in order."""
    layout = base.layout
    if layout is None or layout.offset != 0:
        return False
    wanted = [math.prod(base.shape[axis + 1 :]) for axis in range(len(base.shape))]
    pairs = zip(layout.strides, wanted, base.shape, strict=True)
    return all(stride == due or size <= 1 for stride, due, size in pairs)


def _last_place(layout: Layout, shape: tuple[int, ...]) -> int:
    """Return the greatest position in the storage, in Python's numbers: a guest may say any."""
    steps = zip(shape, layout.strides, strict=True)
    return layout.offset + sum((size - 1) * stride for size, stride in steps)


def _laid_out(layout: Layout, shape: tuple[int, ...], base: Tensor) -> Array:
    """Return the bytes of a storage, seen as a layout says; no byte and no index is copied.

    Args:
        layout: Its last place lies within the storage.
        shape: Sizes, none of them 0.
        base: The whole of the storage.
    """
    width = ITEMSIZE[base.dtype]
    # The stride of an axis of length 1 is never taken, and may be beyond any memory.
    steps = zip(shape, layout.strides, strict=True)
    strides = (*(stride * width if size > 1 else 0 for size, stride in steps), 1)
    memory = np.frombuffer(base.data, np.uint8)[layout.offset * width :]
    return np.lib.stride_tricks.as_strided(memory, (*shape, width), strides, writeable=False)


def _elements(tensor: Tensor) -> Array:
    """Return the bytes of each element."""
    width = ITEMSIZE[tensor.dtype]
    return np.frombuffer(tensor.data, np.uint8).reshape(*tensor.shape, width)
