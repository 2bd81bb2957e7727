"""What the log of one call shows beside its outputs: writes, places of outputs, what was needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from grader.scenario_process.again import play
from grader.vgpu.recording.calls import Recording
from grader.wire.messages import LOG


def shown(function: Callable[..., Any], *inputs: torch.Tensor) -> dict[str, Any]:
    drawn = [torch.randn_like(item) for item in inputs]
    recording = Recording(inputs, wanted=True)
    with recording:
        result = function(*inputs)
    found = play(recording.report(result)[LOG], [drawn])
    assert found["why"] == "", found["why"]
    return found


def matrix() -> torch.Tensor:
    return torch.randn(5, 7)


WRITES: list[Callable[[torch.Tensor], Any]] = [
    lambda x: x.add_(1),
    lambda x: x[1:, 0].zero_() + x[0, 0],
    lambda x: x.t()[2].copy_(torch.zeros(5)) + 1,
    lambda x: torch.mul(x, 2, out=x).clone(),
    lambda x: x.view(-1).index_put_((torch.tensor([1, 2]),), torch.tensor(0.0)).sum(),
    lambda x: torch.relu_(x.detach()).sum(),
    lambda x: x.resize_(8, 7)[:5] + 1,
]


@pytest.mark.parametrize("function", WRITES)
def test_what_writes_to_an_input_is_seen_through_views(function: Callable[..., Any]) -> None:
    assert shown(function, matrix())["written"] == [0]


def test_what_is_put_back_is_written_and_not_changed() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        first = x[0].clone()
        x[0] = 0
        y = x + 1
        x[0] = first
        return y

    found = shown(function, matrix())
    assert (found["written"], found["changed"]) == ([0], [])
    assert shown(lambda x: x.add_(1), matrix())["changed"] == [0]


def test_what_writes_to_a_copy_leaves_the_inputs_alone() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = x.clone()
        z[0] = 1
        return z.add_(y)

    assert shown(function, matrix(), matrix())["written"] == []


def test_the_log_says_in_whose_memory_outputs_lie() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> Any:
        return y, x[1:], {"sum": x + y}

    found = shown(function, matrix(), matrix())
    assert found["inside"] == {"output[0]": 1, "output[1]": 0}
    assert found["same"] == ["output[0]"]
    assert found["apart"] == ["output[2][sum]"]


def uses(function: Callable[..., Any]) -> tuple[int, int, int]:
    found = shown(function, matrix())
    return found["indexings"], found["needed_indexings"], found["needed_array_indexings"]


def test_brackets_are_counted_once_however_many_entries_they_come_to() -> None:
    assert uses(lambda x: (x[-1], x[:, 2:3], x[:2, :3], x[::2, 1::2])) == (4, 4, 0)
    assert uses(lambda x: x[0, [1, 2]]) == (1, 1, 1)
    assert uses(lambda x: x[:, 2].unsqueeze(1)) == (1, 1, 0)
    assert uses(lambda x: x.unsqueeze(1) + 1) == (0, 0, 0)
    assert uses(lambda x: x[None, 2] + x[:, [1]]) == (2, 2, 1)


def test_an_index_whose_result_is_thrown_away_is_not_needed() -> None:
    def decoy(x: torch.Tensor) -> torch.Tensor:
        x[:, [0, 0, 2, 1]]
        x[0] + 1
        return x.flip(0)

    assert uses(decoy) == (2, 0, 0)


def test_of_equal_views_the_one_that_is_used_is_needed() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        x[0]
        x[0]
        return x[0] + 1

    assert uses(function) == (3, 1, 0)


def test_what_is_assigned_to_is_not_read() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        x[:2, 1] = 1
        x[2:4, 0] += 3
        return x[:, 0]

    found = shown(function, matrix())
    assert (found["indexings"], found["assignments"]) == (2, 2)


def test_numbers_that_are_returned_are_outputs() -> None:
    assert uses(lambda x: x[x > 0].sum().item()) == (1, 1, 1)


def test_assignments_that_are_overwritten_are_not_needed() -> None:
    def writes(x: torch.Tensor) -> torch.Tensor:
        x[:2, 0] = 0
        x[[0, 1], 2] = 5
        return x

    def overwritten(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        x[0] = 1
        x.copy_(y)
        return x

    found = shown(writes, matrix())
    assert (found["assignments"], found["needed_assignments"]) == (2, 2)
    found = shown(overwritten, matrix())
    assert (found["assignments"], found["needed_assignments"]) == (2, 0)


def test_work_is_what_the_outputs_descend_from() -> None:
    def in_turns(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.zeros(3, 2, 2)
        for place in range(3):
            out[place] = x[place] @ y[place]
        return out

    def for_show(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        in_turns(x, y)
        return x @ y

    x, y = torch.randn(3, 2, 4), torch.randn(3, 4, 2)
    assert shown(in_turns, x, y)["works"]["mm 16"] == 48
    works = shown(for_show, x, y)["works"]
    assert works["bmm 48"] == 48
    assert "mm 16" not in works
