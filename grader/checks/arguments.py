"""Kinds ``unmodified``, ``view_of``, ``not_view_of``, ``returns_input``: arguments after the call.

Where tensors lie in memory is a claim of the student process. It can be checked this far: if a
result shares the memory of an argument, its elements are those of the argument at the positions
that the layout names.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal

import numpy as np

from grader.checks.arrays import Array
from grader.checks.base import ArgumentRef, CaseInputs, Check, Probe, unnamed
from grader.checks.compare import bits_equal
from grader.checks.compare_trees import Leaf, judge_leaves, leaves
from grader.observation import Observation, Proof
from grader.verdict import Basis, Code, Param, Verdict, finding, passed, sandbox_failed
from grader.wire.tree import places, tensors
from grader.wire.values import ITEMSIZE, Layout, Tensor, Value

_UNREPORTED = "the arguments after the call were not reported"
_NO_LAYOUT = "where the tensors lie in memory was not reported"


class Unmodified(Check):
    """Arguments are left as they were, bit for bit.

    Compared with what the host sent, never with what the student process says that it got. Still a
    claim: the student process reports what the arguments hold after the call.

    Attributes:
        argument: The only one that is looked at, by name or position; all of them where absent.
    """

    conditional: ClassVar[bool] = True
    numbers: ClassVar[bool] = False

    kind: Literal["unmodified"] = "unmodified"
    argument: ArgumentRef | None = None

    def arguments(self) -> tuple[ArgumentRef, ...]:
        """Return the argument, if it is one alone."""
        return () if self.argument is None else (self.argument,)

    def needs(self) -> frozenset[Probe]:
        """Return the probe for arguments after the call."""
        return frozenset({Probe.ARGS_AFTER})

    def hears_log(self) -> bool:
        """Return True: what a log does not write to stays as it was, by the process's word too."""
        return True

    def shown(
        self, case: CaseInputs, reference: Observation, submission: Observation
    ) -> Mapping[str, Param] | None:
        """Look for an input that a log of the question writes to."""
        proof = submission.proved
        # What is done to a tensor outside torch is in no log. The process has to say, too, what
        # its arguments hold.
        if proof is None or submission.claims.args_after is None:
            return None
        looked_at = [case.args[position] for position in self._positions(case)]
        if self._touches(case, proof.written) or not _tensors_in(looked_at):
            return None
        return {"written": list[Param](proof.written)}

    def waits_unproved(self) -> bool:
        """Return False: any function has arguments, also one that no log can follow."""
        return False

    def contradicted(
        self, case: CaseInputs, reference: Observation, submission: Observation
    ) -> bool:
        """Tell whether a log of the question changes an input; that it puts it back is no lie."""
        proof = submission.proved
        return proof is not None and self._touches(case, proof.changed)

    def _positions(self, case: CaseInputs) -> Sequence[int]:
        """Return where the arguments stand that are looked at."""
        if self.argument is None:
            return range(len(case.args))
        return (case.position(self.argument),)

    def _touches(self, case: CaseInputs, places: Sequence[int]) -> bool:
        """Tell whether one of these tensors may be looked at, by its place among all of them."""
        first = None if self.argument is None else _first_tensor(case, self._positions(case)[0])
        if self.argument is None or first is None:
            return bool(places)
        last = first + _tensors_in((case.args[self._positions(case)[0]],))
        return any(first <= place < last for place in places)

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Compare the arguments after the call with those that were sent."""
        after = submission.claims.args_after
        # The reference's process did not tell either: that is the sandbox's doing.
        if after is None and reference.claims.args_after is None:
            return sandbox_failed(_UNREPORTED)
        if after is None or len(after) != len(case.args):
            return _unreported(_UNREPORTED)
        for position in self._positions(case):
            changed = _changed(after[position], case.args[position])
            if changed is not None:
                params = {"name": _name(case, position), **changed}
                return finding(Code.INPUT_MODIFIED, "input_modified", params, Basis.CLAIM)
        return passed(Basis.CLAIM)


def _tensors_in(args: Sequence[Value]) -> int:
    """Return how many tensors arguments hold."""
    return sum(1 for _ in tensors([*args]))


def _first_tensor(case: CaseInputs, position: int) -> int | None:
    """Return the place of an argument's first tensor among the tensors of all arguments.

    How many tensors a list holds differs from case to case, and so do the places after it: None.
    """
    before = case.args[:position]
    plain = all(isinstance(item, Tensor) or not _tensors_in((item,)) for item in before)
    return _tensors_in(before) if plain else None


def _name(case: CaseInputs, position: int) -> str | int:
    """Return the name of an argument; its position where the reference's file made it."""
    known = position < len(case.names) and case.names[position] != unnamed(position)
    return case.names[position] if known else position


def _changed(after: Value, sent: Value) -> dict[str, Param] | None:
    """Return how many elements of a tensor changed, of how many, at the first place that did."""
    for leaf in leaves(after, sent):
        left, right = leaf.actual, leaf.expected
        # A container is met as a leaf only where length, keys or kind changed.
        if isinstance(left, (tuple, list, dict)) or not bits_equal(left, right):
            if isinstance(left, Tensor) and isinstance(right, Tensor):
                return _count(left, right)
            return {}
    return None


def _count(left: Tensor, right: Tensor) -> dict[str, Param]:
    total = math.prod(right.shape)
    if left.dtype != right.dtype or left.shape != right.shape:
        return {"mismatched": total, "total": total}
    before, now = (
        np.frombuffer(tensor.data, np.uint8).reshape(total, ITEMSIZE[tensor.dtype])
        for tensor in (right, left)
    )
    return {"mismatched": int((before != now).any(axis=1).sum()), "total": total}


class MemoryCheck(Check):
    """Looks at where returned tensors lie, beside an argument.

    Attributes:
        argument: The argument, by name or position.
    """

    conditional: ClassVar[bool] = True
    numbers: ClassVar[bool] = False

    argument: ArgumentRef

    def arguments(self) -> tuple[ArgumentRef, ...]:
        """Return the argument."""
        return (self.argument,)

    def needs(self) -> frozenset[Probe]:
        """Return the probes for arguments after the call and for memory."""
        return frozenset({Probe.ARGS_AFTER, Probe.LAYOUT})

    def hears_log(self) -> bool:
        """Return True: a log knows in whose memory an output lies."""
        return True

    def shown(
        self, case: CaseInputs, reference: Observation, submission: Observation
    ) -> Mapping[str, Param] | None:
        """Look at where the outputs of the question's logs lie."""
        position, proof = case.position(self.argument), submission.proved
        place = _first_tensor(case, position)
        if proof is None or place is None:
            return None
        if argument_after(case, self.argument, submission) is None:
            return None
        outputs = list(self._outputs(reference))
        if not outputs or not all(self.lies(proof, name, place) for name in outputs):
            return None
        return {"outputs": list[Param](outputs)}

    def _outputs(self, reference: Observation) -> Iterator[str]:
        """Yield the names under which a log ends with the tensors of the result."""
        parts = self.item.split(".") if self.item else ()
        whole = "".join(["output", *(f"[{part}]" for part in parts)])
        found = places(reference.claims.value, whole)
        return (name for name, leaf in found if isinstance(leaf, Tensor))

    @abstractmethod
    def lies(self, proof: Proof, name: str, place: int) -> bool:
        """Tell whether an output of a log lies where it should, beside an input."""

    def waits_unproved(self) -> bool:
        """Return False: any function has arguments, also one that no log can follow."""
        return False

    def contradicted(
        self, case: CaseInputs, reference: Observation, submission: Observation
    ) -> bool:
        """Tell whether the logs of the question show something else than the process says."""
        return submission.proved is not None

    def judge(self, case: CaseInputs, reference: Observation, submission: Observation) -> Verdict:
        """Find the argument as it stood after the call, then look."""
        base = argument_after(case, self.argument, submission)
        if base is not None:
            return self.beside(base, reference, submission)
        # As with the reference, so that no submission is to blame.
        if reference.claims.args_after is None:
            return sandbox_failed(_NO_LAYOUT)
        return _unreported(_NO_LAYOUT)

    @abstractmethod
    def beside(self, base: Tensor, reference: Observation, submission: Observation) -> Verdict:
        """Return the verdict on what was returned, given the argument after the call."""


class _Shared(MemoryCheck):
    """Looks at whether returned tensors share the memory of an argument."""

    def beside(self, base: Tensor, reference: Observation, submission: Observation) -> Verdict:
        """Look at every returned tensor."""
        return judge_leaves(reference, submission, lambda leaf: self._leaf(leaf, base), Basis.CLAIM)

    def _leaf(self, leaf: Leaf, base: Tensor) -> Verdict | None:
        actual = leaf.actual
        if not isinstance(actual, Tensor) or self.right(actual, base):
            return None
        code, message = self.wrong()
        params = {"name": self.argument, "where": leaf.where}
        return finding(code, message, params, Basis.CLAIM)

    def right(self, actual: Tensor, base: Tensor) -> bool:
        """Tell whether a returned tensor lies where it should."""
        raise NotImplementedError

    def wrong(self) -> tuple[Code, str]:
        """Return code and message for one that does not."""
        raise NotImplementedError


class ViewOf(_Shared):
    """Every returned tensor is a view of an argument: it shares the argument's memory.

    Attributes:
        argument: The argument, by name or position.
    """

    kind: Literal["view_of"] = "view_of"

    def lies(self, proof: Proof, name: str, place: int) -> bool:
        """Tell whether an output lies in the input's memory."""
        return proof.inside.get(name) == place

    def right(self, actual: Tensor, base: Tensor) -> bool:
        """Tell whether the two share memory."""
        return shares(actual, base)

    def wrong(self) -> tuple[Code, str]:
        """Return code and message for a copy."""
        return Code.NOT_A_VIEW, "not_a_view"


class NotViewOf(_Shared):
    """No returned tensor shares memory with an argument.

    Attributes:
        argument: The argument, by name or position.
    """

    kind: Literal["not_view_of"] = "not_view_of"

    def lies(self, proof: Proof, name: str, place: int) -> bool:
        """Tell whether an output lies in memory that is no input's, or another's."""
        return name in proof.apart or proof.inside.get(name, place) != place

    def right(self, actual: Tensor, base: Tensor) -> bool:
        """Tell whether the two have different storages; in doubt they share memory."""
        if actual.layout is None or base.layout is None:
            return False
        return actual.layout.storage != base.layout.storage

    def wrong(self) -> tuple[Code, str]:
        """Return code and message for a view."""
        return Code.SHARES_MEMORY, "shares_memory"


class ReturnsInput(MemoryCheck):
    """The returned tensor is an argument: same object, same memory, same shape, same order.

    Together with a check of the values this shows that a function works in place. A claim: the
    student process reports where its tensors lie.

    Attributes:
        argument: The argument, by name or position.
    """

    kind: Literal["returns_input"] = "returns_input"

    def lies(self, proof: Proof, name: str, place: int) -> bool:
        """Tell whether an output is the input."""
        return name in proof.same and proof.inside.get(name) == place

    def beside(self, base: Tensor, reference: Observation, submission: Observation) -> Verdict:
        """Compare the returned tensor with the argument after the call."""
        value = submission.claims.value
        if isinstance(value, Tensor) and same_place(value, base):
            return passed(Basis.CLAIM)
        params = {"name": self.argument, "where": "result"}
        return finding(Code.NOT_IN_PLACE, "not_in_place", params, Basis.CLAIM)


def argument_after(case: CaseInputs, which: ArgumentRef, seen: Observation) -> Tensor | None:
    """Return an argument as it stood after the call; None where the process does not say.

    Raises:
        UnfitCaseError: The case has no such argument.
    """
    position, after = case.position(which), seen.claims.args_after
    if after is None or len(after) != len(case.args):
        return None
    value = after[position]
    return value if isinstance(value, Tensor) and value.layout is not None else None


def _unreported(detail: str) -> Verdict:
    return finding(Code.PROTOCOL_VIOLATION, "protocol_violation", {"detail": detail}, Basis.CLAIM)


def shares(view: Tensor, base: Tensor) -> bool:
    """Tell whether two tensors of one reply share memory, their numbers agreeing with that.

    Where they do not agree the claim is false, and the answer is no.
    """
    if view.layout is None or base.layout is None or view.layout.storage != base.layout.storage:
        return False
    if view.dtype != base.dtype or not _whole(base):
        return True  # another reading of the memory: not to be checked from here
    # Without elements there is nothing that could disagree.
    if 0 in view.shape:
        return True
    # Before as_strided, which trusts its strides: a hostile layout would read the host's memory
    # beyond the tensor.
    if _last_place(view.layout, view.shape) >= math.prod(base.shape):
        return False
    # The one part of the claim that can be checked: shared memory must hold the same numbers.
    return np.array_equal(_laid_out(view.layout, view.shape, base), _elements(view))


def same_place(one: Tensor, other: Tensor) -> bool:
    """Tell whether two tensors of one reply are the same elements in the same order."""
    return one.layout is not None and one.layout == other.layout and bits_equal(one, other)


def _whole(base: Tensor) -> bool:
    """Tell whether a tensor is its storage from the first element on, in order."""
    layout = base.layout
    if layout is None or layout.offset != 0:
        return False
    wanted = [math.prod(base.shape[axis + 1 :]) for axis in range(len(base.shape))]
    pairs = zip(layout.strides, wanted, base.shape, strict=True)
    return all(stride == due or size <= 1 for stride, due, size in pairs)


def _last_place(layout: Layout, shape: tuple[int, ...]) -> int:
    """Return the greatest position in the storage, in Python's numbers: hostile ones overflow."""
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
