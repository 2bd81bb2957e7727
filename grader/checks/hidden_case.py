"""What sets the inputs of a hidden case apart: their dtype, or a class of their shapes.

A code alone, such as “RuntimeError”, leaves a student with nothing to try. What is told here comes
from the host's own inputs, and only where no case that passed has it. A student process cannot
choose it: it would have to fail another hidden case, whose class is as little of a secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from grader.checks.base import CaseInputs
from grader.verdict import Message, Param, Status, Verdict
from grader.wire.tree import tensors

Trait = tuple[str, Param]
"""Parameter of a message → its value."""


def with_inputs_told(judged: Sequence[tuple[CaseInputs, Verdict]], verdict: Verdict) -> Verdict:
    """Return the verdict over all cases; that on a hidden case tells what its inputs have alone.

    Args:
        judged: Inputs and verdict of every case that the check judges.
        verdict: The verdict over all of them.
    """
    message = verdict.message
    if not verdict.hidden or verdict.status is not Status.FAILED or message is None:
        return verdict
    failures = [dict(_traits(case)) for case, each in judged if each.status is Status.FAILED]
    right = [dict(_traits(case)) for case, each in judged if each.status is Status.PASSED]
    decided = next(dict(_traits(case)) for case, _ in judged if case.id == verdict.case)
    for name, value in decided.items() if right else ():
        in_all = all(each.get(name) == value for each in failures)
        if in_all and not any(each.get(name) == value for each in right):
            return replace(verdict, message=Message(message.id, {**message.params, name: value}))
    return verdict


def _traits(case: CaseInputs) -> Iterator[Trait]:
    inputs = [*tensors(case.args)]
    dtypes = {tensor.dtype for tensor in inputs if tensor.dtype.startswith(("float", "bfloat"))}
    if len(dtypes) == 1:
        yield "inputs_dtype", dtypes.pop()
    shapes = [tensor.shape for tensor in inputs]
    if any(0 in shape for shape in shapes):
        yield "inputs_empty", True
    if any(1 in shape for shape in shapes):
        yield "inputs_size_one", True
    if any(len(shape) > 1 and shape[-1] != shape[-2] for shape in shapes):
        yield "inputs_not_square", True
    if shapes:
        yield "inputs_axes", max(map(len, shapes))
