"""The log of one call on plain tensors: what is in it, what comes of it on other inputs."""

from __future__ import annotations

import json
import logging.handlers
import queue
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from grader.scenario_process.again import play
from grader.vgpu.recording.calls import CallLog, Recording
from grader.vgpu.recording.descriptors import UnsafeError, check_arguments
from grader.wire.messages import LOG

Inputs = list[torch.Tensor]


def recorded(function: Callable[..., Any], *inputs: torch.Tensor) -> dict[str, Any]:
    recording = Recording(inputs, wanted=True)
    with recording:
        result = function(*inputs)
    log: dict[str, Any] = recording.report(result)[LOG]
    return log


def replayed(function: Callable[..., Any], inputs: Inputs, fresh: Inputs) -> dict[str, Any]:
    return play(recorded(function, *(item.clone() for item in inputs)), [fresh])


def only_output(found: dict[str, Any]) -> Any:
    assert found["why"] == "", found["why"]
    (outputs,) = found["outputs"]
    (value,) = outputs.values()
    return value


def positive(x: torch.Tensor) -> Any:
    return x[x > 0].sum().item()


def through_places(x: torch.Tensor) -> Any:
    places = (x > 0).nonzero(as_tuple=True)
    return x[places].sum()


def least_to_zero(x: torch.Tensor) -> Any:
    y = x.clone()
    y[torch.arange(y.shape[0]), x.argmin(dim=1)] = 0
    return y


def in_place(x: torch.Tensor) -> Any:
    x += 1
    x.t_()
    x[0] = 2
    return x


def by_autograd(x: torch.Tensor) -> Any:
    y = x.clone().requires_grad_()
    (y.exp().sum() + y.sin().prod()).backward()
    return y.grad


def uniques(x: torch.Tensor) -> Any:
    values, _ = x.flatten().sort(stable=True)
    first = torch.cat([torch.tensor([True]), values[1:] != values[:-1]])
    return values[first]


def in_a_thread(x: torch.Tensor) -> Any:
    results: list[torch.Tensor] = []
    thread = threading.Thread(target=lambda: results.append(x.cumsum(0)))
    thread.start()
    thread.join()
    return results[0]


HONEST = [
    positive, through_places, least_to_zero, in_place, by_autograd, uniques, in_a_thread,
    torch.vmap(lambda row: row.sum()),
    lambda x: torch.einsum("ij,kj->ik", x, x),
    lambda x: torch.softmax(x, dim=1),
    lambda x: x.t().reshape(-1)[::2],
    lambda x: torch.nn.functional.one_hot(x.argmax(dim=1), x.shape[1]).float() @ x.T,
]  # fmt: skip


@pytest.mark.parametrize("function", HONEST)
def test_an_honest_log_gives_on_other_inputs_what_the_function_gives(
    function: Callable[..., Any],
) -> None:
    log = recorded(function, torch.randn(4, 6))
    fresh = torch.randn(4, 6)
    value = only_output(play(log, [[fresh]]))
    torch.testing.assert_close(value, function(fresh.clone()))


# -- what is not in a log --------------------------------------------------------------------------


def by_listener(work: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., Any]:
    """A thread that runs before the call does the work."""
    asked: queue.Queue[Any] = queue.Queue()
    done: queue.Queue[torch.Tensor] = queue.Queue()

    class Works(logging.Handler):
        # Not “emit”: from Python 3.12 on, what comes there was asked whether it is true.
        def handle(self, record: Any) -> bool:
            done.put(work(record))
            return True

    listener = logging.handlers.QueueListener(asked, Works())
    listener.start()

    def function(x: torch.Tensor) -> torch.Tensor:
        asked.put(x)
        result = done.get()
        listener.stop()
        return result

    return function


def without_modes(x: torch.Tensor) -> torch.Tensor:
    with torch._C._DisableTorchDispatch():
        return torch.stack([row * 2 for row in x])


HIDDEN = [
    by_listener(lambda x: x * 2),
    without_modes,
    lambda x: torch.from_numpy(x.numpy() * 2),
    lambda x: torch.tensor([[entry * 2 for entry in row] for row in x.tolist()]),
    lambda x: torch.tensor(x.sum().item() * 2),
]


@pytest.mark.parametrize("function", HIDDEN)
def test_hidden_work_leaves_a_log_that_gives_the_old_answer(function: Callable[..., Any]) -> None:
    inputs = torch.randn(4, 6)
    fresh = torch.randn(4, 6)
    found = replayed(function, [inputs], [fresh])
    right = fresh.sum() * 2 if function is HIDDEN[-1] else fresh * 2
    assert found["why"] or not torch.allclose(only_output(found), right)


def test_a_number_that_python_made_is_no_output() -> None:
    found = replayed(lambda x: x.sum().item() + 1, [torch.ones(3)], [torch.zeros(3)])
    assert found["outputs"] == [{}]


# -- what a log tells ------------------------------------------------------------------------------


def test_a_loop_over_rows_makes_a_log_longer_with_every_row() -> None:
    def looped(x: torch.Tensor) -> torch.Tensor:
        return torch.stack([row.sum() for row in x])

    sizes = [replayed(looped, [torch.randn(n, 3)], [torch.randn(n, 3)]) for n in (4, 16)]
    assert sizes[1]["entries"] - sizes[0]["entries"] == 12


def test_a_list_of_tensors_is_one_entry_and_many_references() -> None:
    def at_once(x: torch.Tensor) -> torch.Tensor:
        return torch.stack(torch._foreach_add(list(x.unbind()), 1))

    small, large = (replayed(at_once, [torch.randn(n, 3)], [torch.randn(n, 3)]) for n in (4, 16))
    assert small["entries"] == large["entries"]
    assert large["references"] - small["references"] == 12


def test_whole_inputs_are_no_references() -> None:
    def mean(*xs: torch.Tensor) -> torch.Tensor:
        return torch.cat(xs).mean()

    small, large = (
        play(recorded(mean, *(torch.randn(3) for _ in range(n))), [[torch.randn(3)] * n])
        for n in (4, 16)
    )
    assert small["references"] == large["references"] == 1


def test_what_is_done_to_an_index_is_no_use_of_an_operation() -> None:
    def reverse(x: torch.Tensor) -> torch.Tensor:
        return x[torch.arange(len(x)).flip(0)]

    found = replayed(reverse, [torch.randn(5)], [torch.randn(5)])
    assert "index" in found["ops"]
    assert "flip" not in found["ops"]
    assert "flip" in replayed(lambda x: x.flip(0), [torch.randn(5)], [torch.randn(5)])["ops"]


def test_names_are_those_that_ran_and_those_that_stood_for_others() -> None:
    with torch.inference_mode():
        log = recorded(lambda x: torch.softmax(x, 0).t(), torch.randn(3, 3))
    found = play(log, [[torch.randn(3, 3)]])
    assert {"softmax", "_softmax", "t"} <= set(found["ops"])


def test_a_call_that_changes_its_shape_to_an_element_is_not_run_again() -> None:
    found = replayed(
        lambda x: x.repeat(int(x[0].item()), 1), [torch.full((2,), 3.0)], [torch.ones(2)]
    )
    assert only_output(found).shape == (3, 2)


# -- numbers that are read and come back in --------------------------------------------------------


def one_by_one(x: torch.Tensor) -> torch.Tensor:
    out = torch.zeros(len(x), len(x))
    for i, row in enumerate(x):
        for j, other in enumerate(x):
            out[i, j] = (row * other).sum().item()
    return out


READ_AND_USED = [
    one_by_one,
    lambda x: torch.tensor([[float(a) for a in row] for row in x], dtype=torch.float64),
    lambda x: torch.stack([torch.full((2,), row.sum().item()) for row in x]),
    lambda x: (x - x.mean().item()) / x.std().item(),
    lambda x: torch.tensor([int(row.argmax()) for row in x]),
    lambda x: torch.tensor([bool(row[0] > 0) for row in x]),
]  # fmt: skip


@pytest.mark.parametrize("function", READ_AND_USED)
def test_numbers_that_were_read_are_what_the_other_inputs_make_them(
    function: Callable[..., Any],
) -> None:
    log, fresh = recorded(function, torch.randn(5, 7)), -torch.randn(5, 7)
    right = function(fresh)
    assert log["linked"]
    as_read = only_output(play(log, [[fresh]]))
    assert not torch.allclose(as_read.double(), right.double())
    torch.testing.assert_close(only_output(play(log, [[fresh]], True)), right)


def test_work_behind_a_number_that_comes_back_is_needed_and_on_inputs() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.tensor([row.flip(0).sum().item() for row in x]).flip(0).cumsum(0)

    log, fresh = recorded(function, torch.randn(4, 3)), torch.randn(4, 3)
    plain, linked = play(log, [[fresh]]), play(log, [[fresh]], True)
    assert "sum 3" in linked["works"]
    assert linked["works"]["sum 3"] == 12
    assert "sum 3" not in plain["works"]
    assert "cumsum" in linked["ops"]
    assert "cumsum" not in plain["ops"]


def test_a_number_of_the_text_is_no_number_that_was_read() -> None:
    log = recorded(lambda x: torch.tensor([2.5, 1.0]) * x.sum().item(), torch.ones(2))
    assert [kind for kind, *_ in kinds(log) if kind == "link"] == []


def linked_log() -> dict[str, Any]:
    return recorded(lambda x: x * torch.tensor(x.sum().item()), torch.rand(3))


@pytest.mark.parametrize(
    "link",
    [["link", "float32", [1]], ["link", "float32", [-1]], ["link", "float32", [0, 0]],
     ["link", "float64", [0]], ["link", "object", [0]], ["link", "float32", [0.5]],
     ["link", "float32", []]],
)  # fmt: skip
def test_a_link_that_no_honest_process_writes_is_refused(link: Any) -> None:
    log, fresh = linked_log(), [torch.rand(3)]
    place = next(n for n, what in enumerate(kinds(log)) if what[0] == "link")
    assert play(log, [fresh], True)["why"] == ""
    assert play(edited(log, place, link), [fresh], True)["why"]


def test_numbers_come_back_into_no_input() -> None:
    log = linked_log()
    place = next(n for n, what in enumerate(kinds(log)) if what[0] == "link")
    entries = log["entries"].tolist()
    at = entries.index(place)
    # Of the input, not of the constant before it.
    entries[at + 1] = 0
    found = play({**log, "entries": torch.tensor(entries)}, [[torch.rand(3)]], True)
    assert "memory of something else" in found["why"]


@pytest.mark.parametrize("links", [[7], [-2], [0, 0], []])
def test_links_of_no_number_are_refused(links: list[int]) -> None:
    log = recorded(lambda x: x * x.sum().item(), torch.rand(3))
    assert play(log, [[torch.rand(3)]], True)["why"] == ""
    forged = {**log, "links": torch.tensor(links, dtype=torch.int64)}
    assert play(forged, [[torch.rand(3)]], True)["why"]


# -- hostile logs ----------------------------------------------------------------------------------


def edited(log: dict[str, Any], number: int, text: Any) -> dict[str, Any]:
    lines = log["descriptors"].decode().splitlines()
    lines[number] = json.dumps(text)
    return {**log, "descriptors": "\n".join(lines).encode()}


def kinds(log: dict[str, Any]) -> list[Any]:
    return [json.loads(line) for line in log["descriptors"].decode().splitlines()]


@pytest.mark.parametrize(
    "name",
    [["aten", "from_file", ""], ["torchvision", "nms", ""], ["aten", "set_", "source_Storage"],
     ["aten", "resize_", ""], ["os", "system", ""]],
)  # fmt: skip
def test_operations_that_are_not_on_the_list_are_not_run(name: list[str]) -> None:
    log = recorded(lambda x: x + 1, torch.ones(3))
    place = next(n for n, what in enumerate(kinds(log)) if what[0] == "op")
    entry = kinds(log)[place]
    entry[1] = name
    assert play(edited(log, place, entry), [[torch.ones(3)]])["why"]


@pytest.mark.parametrize(
    ("shape", "stride", "offset"),
    [((9,), (1,), 0), ((3,), (4,), 0), ((3,), (1,), 1), ((3,), (-1,), 2)],
)
def test_a_view_beyond_its_memory_is_refused(
    shape: tuple[int, ...], stride: tuple[int, ...], offset: int
) -> None:
    log = recorded(lambda x: torch.as_strided(x, (2,), (1,), 0) + 1, torch.ones(3))
    place = next(n for n, what in enumerate(kinds(log)) if what[0] == "op")
    entry = kinds(log)[place]
    values = [["l", [["v", n] for n in part]] for part in (shape, stride)]
    entry[2] = ["l", [entry[2][1][0], *values, ["v", offset]]]
    assert play(edited(log, place, entry), [[torch.ones(3)]])["why"]


def test_a_layout_beyond_its_memory_is_refused() -> None:
    log = recorded(lambda x: x.t_() + 1, torch.ones(3, 3))
    place = next(n for n, what in enumerate(kinds(log)) if what[0] == "op")
    entry = kinds(log)[place]
    entry[2][1][0] = ["t", "float32", 6, [3, 3], [3, 1]]
    assert "beyond its memory" in play(edited(log, place, entry), [[torch.ones(3, 3)]])["why"]


def test_a_number_that_nobody_read_is_refused() -> None:
    log = recorded(lambda x: x.sum().item(), torch.ones(3))
    place = next(n for n, what in enumerate(kinds(log)) if what[0] == "number")
    for number in (1, -1, 10**9, "0", None):
        found = play(edited(log, place, ["number", "output", number]), [[torch.ones(3)]])
        assert found["why"]


def test_memory_left_over_is_not_to_be_read() -> None:
    def left_over(x: torch.Tensor) -> torch.Tensor:
        grown = x + 0
        grown.resize_(2000)
        return torch.cat([torch.empty(1000), torch.empty_like(x), x.new_empty(1000), grown[4:]])

    # What an earlier run would leave behind.
    for _ in range(3):
        _ = torch.full((1000,), 7.0)
    found = replayed(left_over, [torch.ones(4)], [torch.ones(4)])
    assert not only_output(found).any()


def test_an_input_of_another_form_is_refused() -> None:
    log = recorded(lambda x: x + 1, torch.ones(3))
    assert play(log, [[torch.ones(4)]])["why"]
    assert play(log, [[]])["why"]


@pytest.mark.parametrize("log", [{}, {"why": ""}, {"why": "", "descriptors": b"[]"}, {"why": 3}])
def test_what_is_no_log_is_refused(log: dict[str, Any]) -> None:
    assert play(log, [[torch.ones(3)]])["why"]


# -- what a log must not do ------------------------------------------------------------------------


def test_a_log_ends_at_its_bound_and_the_call_goes_on() -> None:
    log = CallLog()

    def long(x: torch.Tensor) -> torch.Tensor:
        for _ in range(log.most_numbers // 2):
            x = x + 1
        return x

    recording = Recording([torch.zeros(1)], wanted=True)
    with recording:
        result = long(torch.zeros(1))
    found = recording.report(result)[LOG]
    assert result.item() == log.most_numbers // 2
    assert "more than" in found["why"]
    assert len(found["entries"]) < log.most_numbers + 10


def test_bytes_from_outside_are_bounded() -> None:
    found = recorded(lambda x: x + torch.from_numpy(np.zeros(2**20)).sum(), torch.zeros(1))
    assert "come from outside torch" in found["why"]


def test_what_cannot_be_written_down_is_still_computed() -> None:
    recording = Recording([torch.ones(3, 3)], wanted=True)
    with recording:
        result = torch.ones(3, 3).to_sparse().to_dense() + torch.ones(3, 3)
    assert result.sum() == 18
    assert play(recording.report(result)[LOG], [[torch.ones(3, 3)]])["why"]


def test_nothing_is_written_where_nobody_asks() -> None:
    recording = Recording([torch.ones(3)], wanted=False)
    with recording:
        pass
    assert recording.report(None) == {}


MANY, ONE, ROWS = torch.ones(2, 9), torch.ones(1), torch.ones(2, dtype=torch.int64)
STEP = [torch.ones(())]


@pytest.mark.parametrize(
    ("name", "args", "named"),
    [
        ("native_batch_norm", (MANY, ONE, None, None, None, True, 0.1, 1e-5), {}),
        ("native_batch_norm", (MANY, None, None, ONE, ONE, True, 0.1, 1e-5), {}),
        ("native_batch_norm", (MANY, None, None, None, None, False, 0.1, 1e-5), {}),
        ("native_batch_norm", (MANY, None, None), {"running_mean": ONE}),
        ("_native_batch_norm_legit", (MANY, None, ONE, True, 0.1, 1e-5), {}),
        ("_native_batch_norm_legit_no_training", (MANY, None, None, ONE, ONE, 0.1, 1e-5), {}),
        ("_log_softmax_backward_data", (MANY, ONE[None], 1, torch.float32), {}),
        ("multi_margin_loss_backward", (ONE, MANY, ROWS, 1, 1, None, 0), {}),
        ("multi_margin_loss_backward", (ONE, MANY, ROWS, 1, 1), {"reduction": 0}),
        ("multi_margin_loss_backward", (torch.ones(3), MANY, ROWS, 1, 1), {}),
        ("_fused_adam_", ([MANY], [MANY], [ONE], [MANY], [], STEP), {}),
        ("_fused_adamw", ([MANY], [ONE], [MANY], [MANY], [], STEP), {}),
        ("_fused_adam_", (*[[ONE.expand(9)]] * 4, [], STEP), {}),
        ("_fused_adam_", (*[[MANY]] * 4, [], [torch.ones(0)]), {}),
        ("_fused_adam_", (*[[MANY]] * 4, [], STEP), {"found_inf": torch.ones(0)}),
        ("_fused_sgd_", ([MANY], [MANY], [ONE]), {"lr": 0.1}),
        ("repeat_interleave", (torch.tensor([9, -8]),), {"output_size": 1}),
        ("repeat_interleave", (MANY, torch.tensor([2**62, 2**62]), 0), {}),
    ],
)
def test_arguments_that_a_kernel_would_not_look_at_are_refused(
    name: str, args: tuple[Any, ...], named: dict[str, Any]
) -> None:
    # Not by running it: what a kernel does beyond its memory ends the process, or worse.
    with pytest.raises(UnsafeError, match=name):
        check_arguments(name, args, named, lambda _: None)


def test_the_same_operations_with_honest_arguments_are_run_again() -> None:
    def trained(x: torch.Tensor) -> torch.Tensor:
        norm = torch.nn.BatchNorm1d(3)
        layer = torch.nn.Linear(3, 3)
        with torch.no_grad():
            layer.weight.copy_(torch.eye(3))
        for kind in (torch.optim.AdamW, torch.optim.SGD):
            optimizer = kind(layer.parameters(), lr=0.1, fused=True)
            for _ in range(2):
                optimizer.zero_grad()
                found = norm(layer(x))
                margins = torch.nn.functional.multi_margin_loss(found, torch.ones(5).long())
                (margins + torch.log_softmax(found, 1)[:, 0].sum()).backward()
                optimizer.step()
        fresh = torch.nn.functional.batch_norm(
            x, torch.zeros(3), torch.ones(3), weight=layer.weight[0].detach()
        )
        return fresh.repeat_interleave(torch.tensor([1, 0, 2]), 1)

    inputs, fresh = [torch.rand(5, 3)], [torch.rand(5, 3)]
    torch.manual_seed(0)
    found = replayed(trained, inputs, fresh)
    assert not found["why"]
    names = {name.rstrip("_") for name in found["ops"]}
    assert {"_fused_adamw", "_fused_sgd", "_log_softmax_backward_data"} <= names
    assert "multi_margin_loss_backward" in names
    assert any("batch_norm" in name for name in names)


@pytest.mark.parametrize("item", [[], 1.5, {}])
def test_of_a_giant_the_beginning_is_written_down(item: Any) -> None:
    giant: Any = [item]
    for _ in range(30):
        giant = [giant, giant]
    log = recorded(lambda x: [x.sum().item(), x * 2, giant], torch.ones(3))
    assert b'["number", "output[0]", 0]' in log["descriptors"]
    assert log["why"] == ""
