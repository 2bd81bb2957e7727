"""A mesh of two times two devices: groups along its sides, DDP inside one of them.

gpus: 4
nproc: 4
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel as DDP

kind = "cuda" if torch.cuda.is_available() else "cpu"
mesh = init_device_mesh(kind, (2, 2), mesh_dim_names=("replicate", "shard"))
rank = dist.get_rank()
if kind == "cuda":
    assert torch.cuda.current_device() == rank  # a mesh chooses it, where nobody has
x = torch.full((2,), rank + 1.0, device=kind)
for name in ("replicate", "shard"):
    total = x.clone()
    dist.all_reduce(total, group=mesh.get_group(name))
    print("rank", rank, *total.tolist(), mesh[name].get_local_rank(), mesh[name].size(), flush=True)
torch.manual_seed(0)
model = DDP(nn.Linear(2, 1).to(kind), process_group=mesh["replicate"].get_group())
model(x[None]).sum().backward()
print("rank", rank, *model.module.weight.grad.flatten().tolist(), flush=True)
dist.destroy_process_group()
