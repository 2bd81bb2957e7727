"""What a log holds, and what comes of running it again: same numbers, other inputs, what counts."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from grader.vgpu import plain, virtual_gpus
from grader.vgpu.recording.descriptors import LoggedLayout
from grader.vgpu.recording.recorder import Log, logged
from grader.vgpu.recording.replayer import replay
from grader.vgpu.recording.summary import watching
from grader.vgpu.timeline import profile

Tensors = dict[str, torch.Tensor]
FIRST, SECOND = "cuda:0", "cuda:1"


@pytest.fixture(autouse=True)
def gpus() -> Iterator[None]:
    torch.manual_seed(3)
    with virtual_gpus(2):
        yield


def run(work: Callable[[Tensors], Any], leaves: Tensors, **options: Any) -> tuple[Any, Log]:
    """Log a piece of work on leaves; return its outputs and the log."""
    with logged() as log:
        assert log is not None
        for name, leaf in leaves.items():
            log.leaf(name, leaf)
        log.begin("work", *options.get("inputs", leaves))
        outputs = work(leaves)
        log.end("work", outputs)
        if "model" in options:
            log.place(options["model"])
    return outputs, log


def again(log: Log, own: Tensors, new: Tensors | None = None) -> dict[str, Any]:
    return replay(log.as_values(), own if new is None else new, own, 2)


def fresh(leaves: Tensors) -> Tensors:
    return {name: torch.randn_like(leaf) for name, leaf in leaves.items()}


# -- the same numbers ------------------------------------------------------------------------------


def mlp(optimizer: Callable[..., torch.optim.Optimizer], **options: Any) -> Callable[..., Any]:
    def work(leaves: Tensors) -> Any:
        first = nn.Linear(6, 8).to(FIRST)
        second = nn.Linear(8, 3).to(SECOND)
        with torch.no_grad():
            first.weight.copy_(leaves["w1"])
            first.bias.zero_()
            second.weight.copy_(leaves["w2"])
            second.bias.zero_()
        made = optimizer([*first.parameters(), *second.parameters()], lr=0.1, **options)
        for _ in range(3):
            made.zero_grad()
            out = second(torch.tanh(first(leaves["x"].to(FIRST))).to(SECOND))
            (out**2).mean().backward()
            made.step()
        return first.weight, second.weight

    return work


def convolutions(leaves: Tensors) -> Any:
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
    ).to(FIRST)  # fmt: skip
    with torch.no_grad():
        net[0].weight.copy_(leaves["filter"])
        net[0].bias.zero_()
    out = net(leaves["images"].to(FIRST))
    (out.to(SECOND) ** 2).sum().backward()
    net.eval()
    return out, net[0].weight.grad, net(leaves["images"].to(FIRST)), net[1].running_var


def attention(leaves: Tensors) -> Any:
    x = leaves["x"].to(FIRST).requires_grad_()
    weights = torch.softmax(x @ x.transpose(1, 2) / 2.0, dim=-1)
    mask = torch.ones(4, 4, device=FIRST).tril().bool()
    out = nn.functional.layer_norm((weights.masked_fill(~mask, 0.0) @ x), (3,))
    (out[:, -1] * torch.arange(3, device=FIRST)).sum().backward()
    return out, x.grad


def in_threads(leaves: Tensors) -> Any:
    with ThreadPoolExecutor(2) as pool:
        halves = list(pool.map(lambda half: (half.clone() * 2).to(SECOND), leaves["x"].chunk(2)))
    return torch.cat(halves)


def copied(leaves: Tensors) -> Any:
    twin = copy.deepcopy(leaves["x"])
    pinned = leaves["x"].pin_memory()
    layer = nn.Linear(4, 4, bias=False)
    layer.load_state_dict({"weight": leaves["x"]})
    other = copy.deepcopy(layer).to(SECOND)
    with torch.cuda.stream(torch.cuda.Stream(SECOND)):
        moved = pinned.to(SECOND, non_blocking=True)
    part = torch.empty(8, 4, device=SECOND)
    part[:4], part[4:] = moved, twin.to(SECOND)
    return other(part)


def replicas(leaves: Tensors) -> Any:
    layer = nn.Linear(4, 2)
    layer.load_state_dict({"weight": leaves["w"], "bias": leaves["b"]})
    parallel = nn.DataParallel(layer.to(FIRST))
    out = parallel(leaves["x"])
    out.sum().backward()
    return out, layer.weight.grad


WORK: dict[str, tuple[Callable[..., Any], dict[str, tuple[int, ...]]]] = {
    "sgd": (mlp(torch.optim.SGD, momentum=0.9), {"x": (5, 6), "w1": (8, 6), "w2": (3, 8)}),
    "adam": (mlp(torch.optim.Adam), {"x": (5, 6), "w1": (8, 6), "w2": (3, 8)}),
    "adamw_one_by_one": (
        mlp(torch.optim.AdamW, foreach=False), {"x": (5, 6), "w1": (8, 6), "w2": (3, 8)},
    ),
    "adam_foreach": (
        mlp(torch.optim.Adam, foreach=True), {"x": (5, 6), "w1": (8, 6), "w2": (3, 8)},
    ),
    "convolutions": (convolutions, {"images": (3, 1, 6, 6), "filter": (4, 1, 3, 3)}),
    "attention": (attention, {"x": (2, 4, 3)}),
    "in_threads": (in_threads, {"x": (4, 3)}),
    "copied": (copied, {"x": (4, 4)}),
    "replicas": (replicas, {"x": (6, 4), "w": (2, 4), "b": (2,)}),
}  # fmt: skip


@pytest.mark.parametrize("name", WORK)
def test_a_log_gives_the_same_numbers_and_follows_other_inputs(name: str) -> None:
    work, shapes = WORK[name]
    own = {leaf: torch.randn(shape) for leaf, shape in shapes.items()}
    new = fresh(own)
    outputs, log = run(work, own)
    same, other = again(log, own), again(log, own, new)
    assert (same["state"], same["why"], same["outside"]) == ("ran", "", False)
    for index, output in enumerate(outputs if isinstance(outputs, tuple) else [outputs]):
        key = f"output[{index}]" if isinstance(outputs, tuple) else "output"
        assert torch.equal(same["outputs"][key], plain(output))
    wanted = work({leaf: value.clone() for leaf, value in new.items()})
    for index, output in enumerate(wanted if isinstance(wanted, tuple) else [wanted]):
        key = f"output[{index}]" if isinstance(wanted, tuple) else "output"
        assert torch.allclose(other["outputs"][key], plain(output), atol=1e-6)
        assert not torch.equal(other["outputs"][key], same["outputs"][key])


def test_a_thread_that_was_there_before_is_in_the_log() -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        own = {"x": torch.randn(3)}
        outputs, log = run(
            lambda leaves: pool.submit(torch.exp, leaves["x"].to(FIRST)).result(), own
        )
    found = again(log, own, {"x": torch.zeros(3)})
    assert found["outputs"]["output"].tolist() == [1.0, 1.0, 1.0]
    assert outputs.device.type == "cuda"


def test_what_devices_did_is_as_it_was_watched() -> None:
    own = {"x": torch.randn(5, 6)}
    layer = nn.Linear(6, 6).to(FIRST)
    report = {}

    def work(leaves: Tensors) -> Any:
        with watching() as seen:
            out = torch.relu(layer(leaves["x"].to(FIRST))).to(SECOND) * 2
        report.update(seen.report)
        return out

    _, log = run(work, own)
    found = again(log, own)["parts"]["work"]
    assert found["kernels"] == report["kernels"]
    assert found["each"] == report["each"]
    for device, held in report["memory"].items():
        grown = found["memory"][device]["peak"] - found["memory"][device]["before"]
        assert grown == held["peak"] - held["before"]


# -- what counts -----------------------------------------------------------------------------------


def kernels(found: dict[str, Any]) -> set[tuple[str, str]]:
    return {(row["op"], row["device"]) for row in found["parts"]["work"]["kernels"]}


def test_work_beside_the_result_does_not_count() -> None:
    def work(leaves: Tensors) -> Any:
        x = leaves["x"].to(FIRST)
        (x @ x).to(SECOND)
        return x + 1

    own = {"x": torch.randn(4, 4)}
    _, log = run(work, own)
    found = again(log, own)
    assert kernels(found) == {("add", FIRST)}
    assert [row["target"] for row in found["parts"]["work"]["transfers"]] == [FIRST]


def test_work_on_the_cpu_counts_wherever_it_stands() -> None:
    own = {"x": torch.randn(4, 4)}
    with logged() as log:
        assert log is not None
        log.leaf("x", own["x"])
        early = own["x"] @ own["x"]
        log.begin("work", "x")
        out = early.to(FIRST) * 2
        log.end("work", out)
    assert kernels(again(log, own)) == {("mm", "cpu"), ("mul", FIRST)}


def test_work_of_an_earlier_part_counts_there_and_not_again() -> None:
    own = {"x": torch.randn(4, 4)}
    with logged() as log:
        assert log is not None
        log.leaf("x", own["x"])
        x = own["x"].to(FIRST)
        log.begin("first", "x")
        one = x @ x
        log.end("first", one)
        between = one.exp()
        log.begin("second", "x")
        two = torch.relu(between)
        log.end("second", {}, [two])
    found = again(log, own)
    parts = {name: {row["op"] for row in part["kernels"]} for name, part in found["parts"].items()}
    assert parts == {"first": {"mm"}, "second": {"exp", "relu"}}
    assert set(found["outputs"]) == {"output"}


def test_statistics_of_a_training_pass_descend_from_it() -> None:
    """Their operation's declaration does not say that it writes them."""
    norm = nn.BatchNorm1d(3).to(FIRST)

    def work(leaves: Tensors) -> Any:
        norm(leaves["x"].to(FIRST))
        return norm.running_mean

    own, new = {"x": torch.randn(4, 3)}, {"x": torch.ones(4, 3)}
    _, log = run(work, own)
    found = again(log, own, new)["outputs"]["output"]
    assert torch.allclose(found, torch.full((3,), 0.1))


def test_only_what_follows_from_what_was_given_is_read_back() -> None:
    own = {"x": torch.randn(3)}

    def work(leaves: Tensors) -> Any:
        return leaves["x"].to(FIRST) * float(torch.ones((), device=FIRST))

    _, log = run(work, own)
    assert not again(log, own)["reads"]
    _, log = run(lambda leaves: leaves["x"].to(FIRST) * leaves["x"].sum().item(), own)
    assert again(log, own)["reads"]


@pytest.mark.parametrize(
    ("written", "reads"),
    [
        (lambda count, x: count.zero_(), False),
        (lambda count, x: count.copy_(torch.ones(4, device=FIRST)), False),
        (lambda count, x: count.copy_(x.sum()), True),
        (lambda count, x: count[:2].zero_(), True),
    ],
    ids=["zeros", "from nothing given", "from what was given", "not all of it"],
)
def test_what_was_written_anew_follows_from_what_was_written(
    written: Callable[[torch.Tensor, torch.Tensor], object], reads: bool
) -> None:
    # As batch normalisation counts its batches: a count of the text's own, set to zero.
    own = {"x": torch.randn(3)}

    def work(leaves: Tensors) -> Any:
        count, x = torch.tensor([1.0, 2.0, 3.0, 4.0]).to(FIRST), leaves["x"].to(FIRST)
        written(count, x)
        return x * float(count.add_(1)[3])

    _, log = run(work, own)
    assert again(log, own)["reads"] is reads


def test_a_layout_is_dense_only_where_every_place_between_is_its_own() -> None:
    whole = torch.zeros(4, 3)
    for tensor in (whole, whole.T, whole[:, None], whole[1], torch.zeros(())):
        assert LoggedLayout(tensor.dtype, 0, tuple(tensor.shape), tensor.stride()).dense
    # As many elements as it reaches over, and for all that a place that none of them has.
    assert not LoggedLayout(torch.float32, 0, (2, 2), (3, 0)).dense
    assert not LoggedLayout(torch.float32, 0, (2, 2), (3, 1)).dense


def test_the_same_work_takes_its_time_on_a_card() -> None:
    own = {"x": torch.randn(64, 64)}
    _, log = run(lambda leaves: leaves["x"].to(FIRST) @ leaves["x"].to(FIRST), own)
    card = profile("v100")
    fast, slow = (
        replay(log.as_values(), own, own, 2, each)["times"]["work"]["elapsed"]
        for each in (card, card.slowed(0.001))
    )
    assert slow > 2 * fast > 0


def test_a_parameter_counts_where_its_own_memory_is_used() -> None:
    model = nn.ModuleDict({"used": nn.Linear(4, 4), "shown": nn.Linear(4, 4)})
    model["used"].to(FIRST)
    model["shown"].to(SECOND)
    own = {"x": torch.randn(2, 4)}
    _, log = run(lambda leaves: model["used"](leaves["x"].to(FIRST)), own, model=model)
    placed = again(log, own)["placement"]
    assert placed["used.weight"]["device"] == FIRST
    assert placed["shown.weight"]["device"] == "unused on cuda:1"
    assert placed["output"]["device"] == FIRST


def test_numbers_from_outside_torch_stay_what_they_were() -> None:
    own = {"x": torch.randn(3)}

    def work(leaves: Tensors) -> Any:
        return torch.from_numpy(leaves["x"].numpy() * 2).to(FIRST)

    _, log = run(work, own)
    found = again(log, own, {"x": torch.zeros(3)})
    assert found["outside"]
    assert torch.equal(found["outputs"]["output"], own["x"] * 2)


def test_a_log_that_rests_on_what_was_read_is_run_on_its_own_inputs_too() -> None:
    def work(leaves: Tensors) -> Any:
        x = leaves["x"].to(FIRST)
        return x[x > 0] * x.max().item()

    own = {"x": torch.tensor([1.0, -2.0, 3.0])}
    _, log = run(work, own)
    found = again(log, own, {"x": torch.tensor([1.0, 2.0, 3.0])})
    assert (found["state"], found["reads"]) == ("unrepeatable", True)
    assert found["own"]["output"].tolist() == [3.0, 9.0]
    assert ("mul", FIRST) in kernels(found)


def test_an_operation_that_is_not_on_the_list_is_named() -> None:
    own = {"x": torch.randn(3, 3)}
    _, log = run(lambda leaves: torch.linalg.inv(leaves["x"].to(FIRST)), own)
    found = again(log, own)
    assert (found["state"], found["why"]) == ("unlisted", "linalg_inv_ex")


# -- logs that are none ----------------------------------------------------------------------------


def spoilt(change: Callable[[dict[Any, Any]], Any]) -> dict[str, Any]:
    own = {"x": torch.randn(4, 4)}
    _, log = run(lambda leaves: leaves["x"].to(FIRST) @ torch.ones(4, 4, device=FIRST), own)
    values = log.as_values()
    assert replay(values, own, own, 2)["state"] == "ran"
    change(values)
    return replay(values, own, own, 2)


def replaced(old: str, new: str) -> Callable[[dict[Any, Any]], Any]:
    def change(values: dict[Any, Any]) -> None:
        text = values["descriptors"].decode()
        assert old in text
        values["descriptors"] = text.replace(old, new).encode()

    return change


WHOLE = '["float32", 0, [4, 4], [4, 1]]'
BROKEN: dict[str, Callable[[dict[Any, Any]], Any]] = {
    "no entries": lambda values: values.pop("entries"),
    "text for numbers": lambda values: values.update(entries="0"),
    "cut short": lambda values: values.update(entries=values["entries"][:-1]),
    "no such description": lambda values: values["entries"].__setitem__(0, 10**6),
    "no such memory": lambda values: values["entries"].__setitem__(-1, 77),
    "too many numbers": lambda values: values.update(numbers=torch.ones(3, dtype=torch.float64)),
    "not JSON": replaced("[", "{"),
    "nested": lambda values: values.update(descriptors=b"[" * 100_000),
    "layout beyond its memory": replaced(
        '"float32", 0, [4, 4], [4, 1]', '"float32", 9, [4, 4], [4, 1]'
    ),
    "negative": replaced('"float32", 0, [4, 4]', '"float32", -1, [4, 4]'),
    "another dtype": replaced('"float32"', '"qint8"'),
    "far too large": replaced(", 64", f", {2**50}"),
    "a device too many": replaced(f"{WHOLE}, 64, 0", f"{WHOLE}, 64, 7"),
    "two devices": replaced('["home", 0]', '["home", 1]'),
    "no part": replaced('"begin", "work"', '"begin", "other"'),
    "another leaf": replaced('"leaf", "x"', '"leaf", "y"'),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_log_that_is_none_is_refused(name: str) -> None:
    found = spoilt(BROKEN[name])
    assert (found["state"], found["parts"]) == ("malformed", {})


def test_kernels_that_trust_their_arguments_do_not_get_any() -> None:
    """The places of a pooling's maxima come from a pooling, whatever a log says."""
    own = {"x": torch.randn(1, 1, 4, 4)}

    def work(leaves: Tensors) -> Any:
        x = leaves["x"].to(FIRST)
        places = torch.zeros(1, 1, 2, 2, dtype=torch.int64, device=FIRST)
        gradient = torch.ones(1, 1, 2, 2, device=FIRST)
        pooled = torch.ops.aten.max_pool2d_with_indices_backward
        return pooled(gradient, x, [2, 2], [2, 2], [0, 0], [1, 1], False, places)

    _, log = run(work, own)
    found = again(log, own)
    assert found["state"] == "malformed"
    assert "max_pool2d_with_indices_backward" in found["why"]


# -- what went out as a whole and comes back -------------------------------------------------------


GOES_OUT = [
    lambda x: torch.tensor(x.tolist()).to(FIRST),
    lambda x: torch.tensor(x.to(FIRST).tolist(), dtype=torch.float64, device=FIRST),
    lambda x: torch.from_numpy(x.numpy().copy()).to(FIRST),
    lambda x: torch.as_tensor(np.asarray(x, dtype="float64")).to(FIRST),
    lambda x: torch.stack([torch.tensor(row.tolist()) for row in x]).to(FIRST),
]  # fmt: skip


@pytest.mark.parametrize("way", GOES_OUT)
def test_what_went_out_as_a_whole_and_came_back_is_a_copy(
    way: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    own = {"x": torch.randn(4, 3)}
    _, log = run(lambda leaves: way(leaves["x"]) * 2, own)
    new = fresh(own)
    found = again(log, own, new)
    assert (found["state"], found["why"], found["outside"]) == ("ran", "", False)
    assert torch.allclose(found["outputs"]["output"].double(), 2 * new["x"].double())
    assert FIRST in found["placement"]["output"]["device"]


def test_a_copy_holds_what_there_was_when_it_went_out() -> None:
    def work(leaves: Tensors) -> torch.Tensor:
        numbers = leaves["x"].tolist()
        leaves["x"].zero_()
        return torch.tensor(numbers).to(FIRST) + 1

    own = {"x": torch.randn(3)}
    _, log = run(work, own)
    new = fresh(own)
    torch.testing.assert_close(again(log, own, new)["outputs"]["output"], new["x"] + 1)


def test_what_was_worked_out_of_numbers_is_no_copy() -> None:
    own = {"x": torch.randn(3)}
    _, log = run(lambda leaves: torch.tensor([2 * n for n in leaves["x"].tolist()]).to(FIRST), own)
    assert again(log, own, fresh(own))["outside"]


def test_methods_that_hand_out_are_torchs_own_again_afterwards() -> None:
    before = torch.Tensor.tolist, torch.Tensor.numpy
    run(lambda leaves: leaves["x"] + 1, {"x": torch.randn(3)})
    assert (torch.Tensor.tolist, torch.Tensor.numpy) == before
    assert not {"tolist", "numpy"} & {*vars(torch.Tensor)}
