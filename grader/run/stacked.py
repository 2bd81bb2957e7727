"""Inputs of many calls at once: what a block of timed calls is sent.

Each tensor holds those of all calls, one after the other along a new first axis. What is no tensor,
or has another shape in each call, is a list with one item a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from grader.assignment.arguments import Argument, RandomTensor
from grader.assignment.types import Case
from grader.checks.base import CaseInputs
from grader.errors import InfrastructureError
from grader.run.draw import DrawKey, Drawn, draw_case
from grader.run.plan import PlannedCase
from grader.run.session import Session
from grader.wire.messages import Call
from grader.wire.values import ITEMSIZE, Tensor, Value

_GENERATOR_SECONDS = 10.0
"""For all calls of a block."""

Inputs = tuple[tuple[Value, ...], dict[str, Value]]
"""Positional and keyword arguments of a block."""


@dataclass(frozen=True, slots=True)
class Stack:
    """Draws the inputs of blocks of one case.

    Attributes:
        planned: The case.
        dims: Sizes that replace its own.
        key: What the draws depend on.
        session: The reference's guest, for a case with a generator.
    """

    planned: PlannedCase
    dims: Mapping[str, int]
    key: DrawKey
    session: Session

    def draw(self, number: int, calls: int) -> Inputs:
        """Draw the inputs of a block.

        Args:
            number: Of the draw; no two have inputs in common.
            calls: How many are in the block.

        Raises:
            InfrastructureError: The case's generator failed.
        """
        case = self._case(calls)
        drawn = draw_case(case, replace(self.key, repeat=number))
        if case.generate is None:
            return drawn.args, drawn.kwargs
        return self._generated(case.generate, drawn, calls), {}

    def inputs(self, number: int) -> CaseInputs:
        """Return the inputs of one call, for messages and sizes."""
        args, _ = self.draw(number, 1)
        dims = {**self.planned.inputs.dims, **self.dims}
        return replace(self.planned.inputs, args=tuple(map(_first, args)), dims=dims)

    def _case(self, calls: int) -> Case:
        """Return a case of these sizes whose tensors hold those of several calls."""
        case = self.planned.case
        groups = {
            group: {name: _taller(item, calls) for name, item in getattr(case, group).items()}
            for group in ("args", "kwargs")
        }
        dims = {**self.planned.inputs.dims, **self.dims}
        return case.model_copy(update={"dims": dims, **groups})

    def _generated(self, function: str, drawn: Drawn, calls: int) -> tuple[Value, ...]:
        assert drawn.seed is not None
        # One request for all calls: a round trip for each would take longer than the calls.
        seeds: list[Value] = [(drawn.seed + number) % 2**32 for number in range(calls)]
        request = Call(function, kwargs={"seed": seeds, **drawn.dims}, block=calls)
        rows = self.session.call(request, _GENERATOR_SECONDS).claims.value
        if not isinstance(rows, list) or not all(isinstance(row, tuple) for row in rows):
            raise InfrastructureError(f"the generator “{function}” failed while a block was drawn")
        return tuple(_joined(column) for column in zip(*rows, strict=True))


def rows(value: Value, start: int, stop: int) -> Value:
    """Return the inputs, or results, of some calls out of those of all."""
    if isinstance(value, list):
        return value[start:stop]
    if not isinstance(value, Tensor):
        return value
    row = ITEMSIZE[value.dtype]
    for size in value.shape[1:]:
        row *= size
    data = memoryview(value.data)[start * row : stop * row]
    return replace(value, shape=(stop - start, *value.shape[1:]), data=data)


def _first(value: Value) -> Value:
    if isinstance(value, list):
        return value[0]
    return replace(value, shape=value.shape[1:]) if isinstance(value, Tensor) else value


def _joined(column: Sequence[Value]) -> Value:
    """Return one argument of all calls: a tensor where all are alike, else a list."""
    first = column[0]
    same = [
        item
        for item in column
        if isinstance(item, Tensor)
        and isinstance(first, Tensor)
        and (item.dtype, item.shape) == (first.dtype, first.shape)
    ]
    if len(same) < len(column):
        return list(column)
    assert isinstance(first, Tensor)
    data = b"".join(item.data for item in same)
    return Tensor(first.dtype, (len(column), *first.shape), data)


def _taller(argument: Argument, calls: int) -> Argument:
    if not isinstance(argument, RandomTensor):
        return argument
    shape = getattr(argument, argument.form)
    return argument.model_copy(update={argument.form: (calls, *shape)})
