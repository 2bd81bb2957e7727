"""What ``torch.cuda`` and its neighbours answer."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from gpu.programs.base import linear, numbers, program


@program("`torch.cuda`: devices")
def cuda_questions() -> Any:
    properties = torch.cuda.get_device_properties(0)
    return (
        torch.cuda.is_available(), torch.cuda.device_count() >= 1, torch.cuda.current_device(),
        bool(torch.cuda.get_device_name(0)), properties.total_memory > 0, bool(properties.name),
        len(torch.cuda.get_device_capability()), torch.cuda.is_initialized(),
        torch.cuda.synchronize(), torch.cuda.synchronize(0), torch.cuda.empty_cache(),
    )  # fmt: skip


@program("`torch.cuda`: devices", devices=2)
def cuda_device_context() -> Any:
    with torch.cuda.device(1):
        inside = torch.zeros(1, device="cuda"), torch.cuda.current_device()
    with torch.cuda.device_of(torch.zeros(1, device="cuda:1")):
        of = torch.cuda.current_device()
    return inside, of, torch.cuda.current_device(), torch.zeros(1, device="cuda")


@program("`torch.cuda`: streams and events")
def streams_and_events() -> Any:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        out = numbers().cuda() * 2
    torch.cuda.current_stream().wait_stream(side)
    out.record_stream(torch.cuda.current_stream())
    end.record()
    end.synchronize()
    torch.cuda.synchronize()
    return out, start.elapsed_time(end) >= 0, end.query(), side == torch.cuda.current_stream()


@program("`torch.cuda`: memory")
def memory_questions() -> Any:
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    held = torch.zeros(1000, device="cuda")
    view = held[:10]
    more = torch.cuda.memory_allocated() - before
    torch.cuda.reset_peak_memory_stats()
    extra = torch.zeros(512, device="cuda")
    peak = torch.cuda.max_memory_allocated() - before
    del held, extra
    still = torch.cuda.memory_allocated() - before
    del view
    return more, peak, still, torch.cuda.memory_allocated() - before


@program("`nn.DataParallel`, `replicate`, `scatter`, `gather`", devices=2)
def data_parallel() -> Any:
    model = nn.DataParallel(linear("cuda:0"), device_ids=[0, 1])
    out = model(torch.arange(12.0).reshape(4, 3))
    out.sum().backward()
    return out, model.module.weight.grad, model.module.bias.grad


@program("`nn.DataParallel`, `replicate`, `scatter`, `gather`", devices=2)
def by_hand() -> Any:
    model = linear("cuda:0")
    inputs = nn.parallel.scatter(torch.arange(12.0).reshape(4, 3), [0, 1])
    replicas = nn.parallel.replicate(model, [0, 1])
    outputs = nn.parallel.parallel_apply(replicas, inputs)
    return (
        [t.device for t in inputs], [r.weight.device for r in replicas],
        nn.parallel.gather(outputs, 0), nn.parallel.gather(outputs, "cpu").device,
        nn.parallel.comm.reduce_add([t.detach().sum() for t in outputs], 0),
    )  # fmt: skip


@program("`GradScaler`")
def grad_scaler() -> Any:
    model = linear("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    scaler.scale(model(numbers().cuda()).sum()).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    return model.weight, scaler.get_scale()


@program("`torch.func` (`vmap`, `grad`)")
def function_transforms() -> Any:
    g = numbers().cuda()
    return torch.func.vmap(lambda row: row.sum())(g), torch.func.grad(lambda t: (t**2).sum())(g)


@program("`nn.DataParallel`, `replicate`, `scatter`, `gather`", devices=2)
def data_parallel_over_all_devices() -> Any:
    model = nn.DataParallel(nn.Sequential(linear(), nn.BatchNorm1d(2))).cuda()
    out = model(torch.arange(15.0).reshape(5, 3))
    return out, model.module[1].running_mean, list(model.state_dict())


@program("`nn.DataParallel`, `replicate`, `scatter`, `gather`", devices=2)
def data_parallel_of_a_host_module() -> Any:
    return nn.DataParallel(linear())(numbers())
