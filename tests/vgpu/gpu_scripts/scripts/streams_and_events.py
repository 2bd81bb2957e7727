"""Copies on a stream of their own, beside computing; an event's time."""

import torch

on_gpu = torch.cuda.is_available()
torch.manual_seed(0)
batches = [torch.randn(32, 32) for _ in range(4)]
weight = torch.randn(32, 32)
total = 0.0
if on_gpu:
    copying, weight = torch.cuda.Stream(), weight.cuda()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for batch in batches:
        with torch.cuda.stream(copying):
            moved = batch.pin_memory().cuda(non_blocking=True)
        torch.cuda.current_stream().wait_stream(copying)
        moved.record_stream(torch.cuda.current_stream())
        total += (moved @ weight).relu().sum().item()
    end.record()
    torch.cuda.synchronize()
    assert start.elapsed_time(end) > 0
    assert copying.query() and end.query()
else:
    total = sum((batch @ weight).relu().sum().item() for batch in batches)
print("total", total)
