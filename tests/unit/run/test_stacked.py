"""Inputs of many calls at once: drawn by the host, or by a case's generator."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from observed import ended, seen, tensor

from grader.assignment.types import Case
from grader.checks.arrays import to_numpy
from grader.checks.base import CaseInputs
from grader.errors import InfrastructureError
from grader.observation import Observation, Outcome
from grader.run.plan import DrawKey, PlannedCase
from grader.run.session import ProcessSession
from grader.run.timing.full_measurement import Stack
from grader.run.timing.processor import rows
from grader.wire.messages import Call
from grader.wire.values import Tensor, Value


class Generator:
    """The reference's process: each call returns a tensor, a list and a number, by its seed."""

    def __init__(self) -> None:
        self.requests: list[Call] = []

    def call(self, call: Call, _: float) -> Observation:
        self.requests.append(call)
        seeds = cast("list[int]", call.kwargs["seed"])
        n = call.kwargs["N"]
        return seen(
            [(tensor([seed % 97, n]), [seed, n], tensor(range(1 + seed % 2))) for seed in seeds]
        )


def stack(session: Any = None, **case: Any) -> Stack:
    content = {"id": "c", "dims": {"N": [3, 4]}, **case}
    planned = PlannedCase("c", Case.model_validate(content), CaseInputs("c", ("x",), ()), {}, "")
    return Stack(planned, {"N": 64}, DrawKey(1, "a", "q"), cast("ProcessSession", session))


def shape(value: Value) -> tuple[int, ...]:
    assert isinstance(value, Tensor)
    return value.shape


def test_tensors_hold_those_of_all_calls_at_the_sizes_that_are_timed() -> None:
    drawn = stack(args={"x": {"randn": ["N", 2]}, "k": 3}, kwargs={"y": {"rand": ["N"]}})
    (x, k), kwargs = drawn.draw(7, 5)
    assert (shape(x), k, shape(kwargs["y"])) == ((5, 64, 2), 3, (5, 64))
    assert drawn.inputs(0).dims == {"N": 64}
    assert shape(drawn.inputs(0).args[0]) == (64, 2)
    assert drawn.draw(7, 5) == ((x, k), kwargs)
    assert drawn.draw(8, 5)[0][0] != x


def test_a_generator_makes_the_inputs_of_a_block_in_one_request() -> None:
    process = Generator()
    x, numbers, ragged = stack(process, generate="g").draw(7, 6)[0]
    (request,) = process.requests
    assert (request.entry, request.block, request.kwargs["N"]) == ("g", 6, 64)
    assert len(set(cast("list[int]", request.kwargs["seed"]))) == 6
    assert isinstance(x, Tensor)
    assert isinstance(numbers, list)
    pairs = cast("list[list[int]]", numbers)
    assert to_numpy(x).tolist() == [[seed % 97, n] for seed, n in pairs]
    # Of another length in each call: they cannot stand in one tensor.
    assert isinstance(ragged, list)
    assert [len(to_numpy(cast("Tensor", item))) for item in ragged] == [
        1 + seed % 2 for seed, _ in pairs
    ]
    assert process.requests[0].kwargs != stack(process, generate="g").draw(8, 6)


def test_a_generator_that_fails_is_no_submissions_fault() -> None:
    class Broken(Generator):
        def call(self, call: Call, seconds: float) -> Observation:
            return ended(Outcome.CRASHED)

    with pytest.raises(InfrastructureError, match="generator “g”"):
        stack(Broken(), generate="g").draw(0, 2)


def test_rows_are_those_of_some_calls() -> None:
    whole = tensor(np.arange(12).reshape(4, 3))
    some = rows(whole, 1, 3)
    assert isinstance(some, Tensor)
    assert to_numpy(some).tolist() == [[3, 4, 5], [6, 7, 8]]
    assert rows([1, 2, 3], 0, 2) == [1, 2]
    assert rows(3, 0, 2) == 3
