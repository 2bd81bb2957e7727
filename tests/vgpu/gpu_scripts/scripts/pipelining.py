"""torch.distributed.pipelining: two stages made by hand, GPipe's schedule.

gpus: 2
nproc: 2
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

on_gpu = torch.cuda.is_available()
dist.init_process_group("nccl" if on_gpu else "gloo")
rank = dist.get_rank()
device = torch.device(f"cuda:{rank}" if on_gpu else "cpu")
if on_gpu:
    torch.cuda.set_device(device)
torch.manual_seed(0)
layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
x, y = torch.randn(8, 4), torch.randn(8, 4)
stage = PipelineStage(layers[rank].to(device), rank, 2, device)
schedule = ScheduleGPipe(stage, n_microbatches=2, loss_fn=nn.functional.mse_loss)
if rank == 0:
    schedule.step(x.to(device))
else:
    losses = []
    out = schedule.step(target=y.to(device), losses=losses)
    print("losses", *[loss.item() for loss in losses], out.sum().item())
print("rank", rank, layers[rank].weight.grad.norm().item(), flush=True)
dist.destroy_process_group()
