"""DTensor: spread, computed with, gathered; from parts, to parts, made in place, random.

gpus: 2
nproc: 2
tolerance: 0.0001
"""

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
    ones,
)

kind = "cuda" if torch.cuda.is_available() else "cpu"
mesh = init_device_mesh(kind, (2,))
rank = dist.get_rank()
where = torch.device("cuda", rank) if kind == "cuda" else torch.device("cpu")
whole = torch.arange(12.0).reshape(4, 3)
rows = distribute_tensor(whole, mesh, [Shard(0)])
assert rows.device == rows.to_local().device == where, (rows.device, where)
assert rows.is_cuda is (kind == "cuda")
columns = rows.redistribute(mesh, [Shard(1)])
weight = distribute_tensor(torch.ones(3, 2), mesh, [Replicate()]).requires_grad_()
product = (rows * 2) @ weight
product.sum().backward()
print("rank", rank, *columns.to_local().flatten().tolist(), flush=True)
print("rank", rank, *product.full_tensor().flatten().tolist(), flush=True)
print("rank", rank, *weight.grad.full_tensor().flatten().tolist(), flush=True)
parts = DTensor.from_local(torch.full((2, 2), rank + 1.0, device=where), mesh, [Partial()])
summed = parts.redistribute(mesh, [Replicate()]).to_local()
print("rank", rank, *summed.flatten().tolist(), flush=True)
made = ones(4, 2, device_mesh=mesh, placements=[Shard(0)])
assert made.to_local().shape == (2, 2)
print("rank", rank, made.sum().full_tensor().item(), made.mean().item(), flush=True)
layer = distribute_module(torch.nn.Linear(3, 3).to(where), mesh)
layer.weight.data.fill_(0.5)
print("rank", rank, (layer(rows) - layer.bias).full_tensor().sum().item(), flush=True)
heads = torch.randn(3, 1, 2, 4, 8, generator=torch.Generator().manual_seed(1))
if kind == "cuda":  # torch has no rule for the CPU's kernel
    heads = [distribute_tensor(each, mesh, [Shard(1)]) for each in heads]
attended = torch.nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
if kind == "cuda":
    assert attended.to_local().shape == (1, 1, 4, 8)
    attended = attended.full_tensor()
print("rank", rank, *attended.flatten().tolist(), flush=True)
dist.destroy_process_group()
