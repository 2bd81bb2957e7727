"""Files, workers, threads."""

from __future__ import annotations

import copy
import io
import threading
from typing import Any

import torch
from torch import nn

from gpu.programs.base import linear, numbers, program


@program("`state_dict`, `save`, `load` with `map_location`")
def saved_and_loaded() -> Any:
    file = io.BytesIO()
    torch.save({"model": linear("cuda").state_dict(), "x": numbers().cuda()}, file)
    loaded = []
    for place in (None, "cpu", "cuda:0", torch.device("cpu"), {"cuda:0": "cpu"}):
        file.seek(0)
        loaded.append(torch.load(file, map_location=place, weights_only=True))
    file.seek(0)
    loaded.append(torch.load(file, map_location=lambda storage, _: storage, weights_only=True))
    return loaded


@program("`state_dict`, `save`, `load` with `map_location`")
def state_dict_between_devices() -> Any:
    model, other = linear(), nn.Linear(3, 2).cuda()
    other.load_state_dict(model.state_dict())
    model.load_state_dict(other.state_dict())
    return other.weight, other.bias, model.weight, other(numbers().cuda())


@program("`state_dict`, `save`, `load` with `map_location`")
def load_onto_a_missing_device() -> Any:
    file = io.BytesIO()
    torch.save(numbers(), file)
    file.seek(0)
    return torch.load(file, map_location="cuda:63", weights_only=True)


@program("`copy.deepcopy`")
def deep_copies() -> Any:
    model = linear("cuda")
    twin = copy.deepcopy(model)
    twin.weight.data.zero_()
    return (
        model.weight,
        twin.weight,
        copy.deepcopy(numbers().cuda()),
        isinstance(twin.weight, nn.Parameter),
    )


@program("`pin_memory`, `DataLoader(pin_memory=True)`")
def pinned_memory() -> Any:
    x = numbers()
    pinned = x.pin_memory()
    data = torch.utils.data.TensorDataset(x, torch.tensor([0, 1]))
    loader = torch.utils.data.DataLoader(data, batch_size=1, pin_memory=True)
    rows = [(a.is_pinned(), a.to("cuda", non_blocking=True), b) for a, b in loader]
    return x.is_pinned(), pinned.is_pinned(), pinned, rows


@program("Threads")
def in_threads() -> Any:
    found: list[Any] = [None] * 4

    def work(place: int) -> None:
        w = numbers().cuda().requires_grad_()
        (w * place).sum().backward()
        found[place] = w.grad

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@program("Threads", devices=2)
def current_device_is_the_threads_own() -> Any:
    found = []
    torch.cuda.set_device(1)
    thread = threading.Thread(target=lambda: found.append(torch.cuda.current_device()))
    thread.start()
    thread.join()
    mine = (
        torch.cuda.current_device(),
        torch.zeros(1, device="cuda").device,
        numbers().cuda().device,
    )
    torch.cuda.set_device(0)
    return found, mine


@program("`state_dict`, `save`, `load` with `map_location`")
def whole_models() -> Any:
    file = io.BytesIO()
    torch.save(nn.Sequential(linear("cuda"), nn.BatchNorm1d(2).cuda()), file)
    places = []
    for place in (None, "cpu"):
        file.seek(0)
        loaded = torch.load(file, map_location=place, weights_only=False)
        places += [loaded[0].weight, loaded[1].running_var]
    return places


@program("`state_dict`, `save`, `load` with `map_location`")
def checkpoints() -> Any:
    model = linear("cuda")
    optimizer = torch.optim.Adam(model.parameters())
    loss = model(numbers().cuda()).sum()
    loss.backward()
    optimizer.step()
    file = io.BytesIO()
    torch.save({
        "epoch": 3, "model_state_dict": model.state_dict(), "loss": loss,
        "optimizer_state_dict": optimizer.state_dict(),
    }, file)  # fmt: skip
    file.seek(0)
    checkpoint = torch.load(file)
    fresh = nn.Linear(3, 2)
    fresh.load_state_dict(checkpoint["model_state_dict"])
    again = torch.optim.Adam(fresh.parameters())
    again.load_state_dict(checkpoint["optimizer_state_dict"])
    state = again.state[fresh.weight]
    return fresh.weight, state["exp_avg"], checkpoint["loss"].device, checkpoint["epoch"]


@program("Workers and other processes")
def loader_with_workers() -> Any:
    data = torch.utils.data.TensorDataset(torch.arange(4.0))
    loader = torch.utils.data.DataLoader(data, batch_size=2, num_workers=1, pin_memory=True)
    return [row.cuda() for (row,) in loader]


@program("Workers and other processes")
def loader_over_device_tensors() -> Any:
    data = torch.utils.data.TensorDataset(torch.arange(4.0, device="cuda"))
    return [row for (row,) in torch.utils.data.DataLoader(data, batch_size=3)]
