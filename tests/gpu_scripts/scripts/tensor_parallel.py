"""Tensor parallelism over a device mesh.

refused: tensor parallelism
gpus: 2
nproc: 2
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

on_gpu = torch.cuda.is_available()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
x = torch.randn(6, 4)
if on_gpu:
    mesh = init_device_mesh("cuda", (2,))
    model = parallelize_module(
        model.to("cuda"), mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()}
    )
    x = x.to("cuda")
else:
    dist.init_process_group("gloo")
out = model(x).sum()
if dist.get_rank() == 0:
    print("sum", out.item())
dist.destroy_process_group()
