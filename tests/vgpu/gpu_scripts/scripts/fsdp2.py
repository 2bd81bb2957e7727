"""FSDP2: fully_shard around layers, mixed precision, a checkpoint of the shards.

gpus: 2
nproc: 2
tolerance: 0.01
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.checkpoint.state_dict import get_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor

kind = "cuda" if torch.cuda.is_available() else "cpu"
mesh = init_device_mesh(kind, (2,))
rank = dist.get_rank()
torch.manual_seed(0)


def network(**options):
    with torch.device("cpu"):
        model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.Linear(8, 2))
    if kind == "cuda":
        model.to(f"cuda:{rank}")
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh, **options)
    return fully_shard(model, mesh=mesh, **options)


model = network()
assert isinstance(model[0].weight, DTensor)
assert model[0].weight.device.type == model[0].weight.to_local().device.type == kind
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
x = torch.randn(6, 4, device="cpu").to(kind) * (rank + 1)
for step in range(3):
    loss = model(x).square().mean()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    print("rank", rank, step, loss.item(), flush=True)
whole = get_model_state_dict(model)["2.weight"].full_tensor()
if rank == 0:
    print("weights", *whole.flatten().tolist(), flush=True)
half = network(mp_policy=MixedPrecisionPolicy(torch.bfloat16, torch.float32))
out = half(x)
assert out.dtype == torch.bfloat16
out.float().sum().backward()
assert half[0].weight.grad.dtype == torch.float32
print("rank", rank, 9, out.float().sum().item(), flush=True)
dist.destroy_process_group()
