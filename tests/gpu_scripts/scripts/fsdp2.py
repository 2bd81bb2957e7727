"""FSDP2: fully_shard over two GPUs.

refused: fully_shard
gpus: 2
nproc: 2
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

on_gpu = torch.cuda.is_available()
dist.init_process_group("nccl" if on_gpu else "gloo")
rank = dist.get_rank()
if on_gpu:
    torch.cuda.set_device(rank)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
x = torch.randn(6, 4)
if on_gpu:
    model.cuda()
    fully_shard(model)
    x = x.cuda()
out = model(x).sum()
out.backward()
if rank == 0:
    print("sum", out.item())
dist.destroy_process_group()
