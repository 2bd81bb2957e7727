"""DistributedDataParallel as torchrun starts it: rank and size from the environment.

gpus: 2
nproc: 2
"""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

on_gpu = torch.cuda.is_available()
dist.init_process_group("nccl" if on_gpu else "gloo")
local_rank = int(os.environ["LOCAL_RANK"])
device = torch.device(f"cuda:{local_rank}" if on_gpu else "cpu")
if on_gpu:
    torch.cuda.set_device(device)
torch.manual_seed(dist.get_rank())
model = DDP(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).to(device),
            device_ids=[local_rank] if on_gpu else None)  # fmt: skip
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(16, 4).to(device), torch.randn(16, 1).to(device)
for step in range(6):
    with model.no_sync() if step % 2 == 0 else torch.enable_grad():
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
    if step % 2:
        optimizer.step()
        optimizer.zero_grad()
mean = loss.detach()
dist.all_reduce(mean)
if dist.get_rank() == 0:
    print("loss", mean.item() / dist.get_world_size())
dist.barrier()
dist.destroy_process_group()
