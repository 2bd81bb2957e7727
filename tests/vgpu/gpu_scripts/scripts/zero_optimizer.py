"""ZeroRedundancyOptimizer: each rank keeps a part of the state.

gpus: 2
nproc: 2
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP

on_gpu = torch.cuda.is_available()
dist.init_process_group("nccl" if on_gpu else "gloo")
rank = dist.get_rank()
device = torch.device(f"cuda:{rank}" if on_gpu else "cpu")
if on_gpu:
    torch.cuda.set_device(device)
torch.manual_seed(0)
model = DDP(nn.Sequential(*[nn.Linear(6, 6) for _ in range(3)]).to(device))
optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.Adam, lr=0.01)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(2, 6, device=device)).square().mean().backward()
    optimizer.step()
if rank == 0:
    print("weights", *[parameter.sum().item() for parameter in model.parameters()])
dist.destroy_process_group()
