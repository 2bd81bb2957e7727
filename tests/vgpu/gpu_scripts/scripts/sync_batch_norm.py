"""SyncBatchNorm in DistributedDataParallel.

gpus: 2
nproc: 2
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

on_gpu = torch.cuda.is_available()
dist.init_process_group("nccl" if on_gpu else "gloo")
rank = dist.get_rank()
torch.manual_seed(0)
whole = torch.randn(8, 3)
layer = nn.BatchNorm1d(3)
if on_gpu:
    torch.cuda.set_device(rank)
    model = DDP(nn.SyncBatchNorm.convert_sync_batchnorm(layer).cuda(), device_ids=[rank])
    out = model(whole.chunk(2)[rank].cuda())
    (out**3).sum().backward()
    layer = model.module
    assert isinstance(layer, nn.SyncBatchNorm)
    gradient = layer.weight.grad * 2  # DDP averages what the whole batch adds up
    gathered = [torch.zeros_like(out) for _ in range(2)]
    dist.all_gather(gathered, out.detach())
    out = torch.cat(gathered)
else:
    out = layer(whole)
    (out**3).sum().backward()
    gradient = layer.weight.grad
if rank == 0:
    print("out", *out.flatten().tolist())
    print("statistics", *layer.running_mean.tolist(), *layer.running_var.tolist())
    print("gradient", *gradient.tolist())
dist.barrier()  # on the CPU nothing else keeps one rank from leaving before the other has come
dist.destroy_process_group()
