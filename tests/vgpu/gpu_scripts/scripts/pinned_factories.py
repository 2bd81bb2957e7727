"""pin_memory=True in the functions that make tensors."""

import torch

on_gpu = torch.cuda.is_available()
options = {"pin_memory": on_gpu}
buffers = [
    torch.empty(2, 3, **options).fill_(1.0),
    torch.zeros(2, 3, **options),
    torch.full((2, 3), 2.0, **options),
    torch.tensor([[1.0, 2.0, 3.0]], **options),
    torch.ones_like(torch.zeros(2, 3), **options),
    torch.zeros(1).new_ones(2, 3, **options),
    torch.arange(3.0, **options),
]
assert all(buffer.is_pinned() for buffer in buffers) or not on_gpu
device = "cuda" if on_gpu else "cpu"
print("sum", sum(buffer.to(device, non_blocking=True).sum() for buffer in buffers).item())
