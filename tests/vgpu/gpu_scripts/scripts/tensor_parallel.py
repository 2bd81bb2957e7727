"""Tensor parallelism over a device mesh: columns, rows, a sequence that is spread.

gpus: 2
nproc: 2
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)

kind = "cuda" if torch.cuda.is_available() else "cpu"
mesh = init_device_mesh(kind, (2,), mesh_dim_names=("tp",))
rank = dist.get_rank()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4), nn.LayerNorm(4)).to(kind)
plan = {
    "0": ColwiseParallel(),
    "2": RowwiseParallel(output_layouts=Shard(0)),
    "3": SequenceParallel(sequence_dim=0, use_local_output=True),
}
model = parallelize_module(model, mesh["tp"], plan)
assert model[0].weight.to_local().shape == (4, 4)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, foreach=True)
x = torch.randn(6, 4).to(kind)
for step in range(3):
    out = model(x)
    out.square().sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    print("rank", rank, step, *out.flatten().tolist(), flush=True)
if rank == 0:
    assert kind == "cpu" or out.device == torch.device("cuda", rank)
dist.destroy_process_group()
