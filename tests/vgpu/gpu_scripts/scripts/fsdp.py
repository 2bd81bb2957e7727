"""FullyShardedDataParallel: Adam, gradients clipped, buffers, a whole checkpoint.

gpus: 2
nproc: 2
tolerance: 0.0001
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import StateDictType
from torch.nn.parallel import DistributedDataParallel as DDP

on_gpu = torch.cuda.is_available()
dist.init_process_group("nccl" if on_gpu else "gloo")
rank = dist.get_rank()
device = torch.device("cuda", rank) if on_gpu else torch.device("cpu")
if on_gpu:
    torch.cuda.set_device(rank)
torch.manual_seed(0)
inner = nn.Linear(8, 8).to(device)
# Without a bias: under batch norm its gradient is what rounding leaves, of which Adam makes steps.
first = nn.Linear(4, 8, bias=False)
model = nn.Sequential(first, nn.BatchNorm1d(8), FSDP(inner) if on_gpu else inner)
# There is none for the CPU alone; each rank has its own statistics, as with FSDP.
model = FSDP(model.to(device), device_id=device) if on_gpu else DDP(model, broadcast_buffers=False)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
x = torch.randn(6, 4).to(device) * (rank + 1)
for step in range(3):
    loss = model(x).square().mean()
    loss.backward()
    if on_gpu:
        model.clip_grad_norm_(1.0)
    else:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    print("rank", rank, step, loss.item(), flush=True)
if on_gpu:
    FSDP.set_state_dict_type(model, StateDictType.FULL_STATE_DICT)
state = model.state_dict()
if rank == 0:
    print("weights", *[value.float().sum().item() for value in state.values()], flush=True)
dist.destroy_process_group()
