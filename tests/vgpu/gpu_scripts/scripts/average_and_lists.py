"""What nccl has and gloo lacks: averages, lists to scatter, other shapes to gather.

gpus: 2
nproc: 2
"""

import torch
import torch.distributed as dist

on_gpu = torch.cuda.is_available()
dist.init_process_group("nccl" if on_gpu else "gloo")
rank = dist.get_rank()
device = f"cuda:{rank}" if on_gpu else "cpu"
x = torch.arange(4.0, device=device) + rank
if on_gpu:
    torch.cuda.set_device(rank)
    dist.all_reduce(x, op=dist.ReduceOp.AVG)
    part = torch.zeros(2, device=device)
    dist.reduce_scatter(part, list(torch.ones(4, device=device).chunk(2)))
    given = [torch.zeros(2, device=device) for _ in range(2)]
    dist.all_to_all(given, list((torch.ones(4, device=device) * rank).chunk(2)))
    ranks = [torch.zeros(1, device=device) for _ in range(2)]
    dist.all_gather(ranks, torch.tensor(float(rank), device=device))
else:
    dist.all_reduce(x)
    x /= 2
    part, given = torch.full((2,), 2.0), [torch.zeros(2), torch.ones(2)]
    ranks = [torch.zeros(1), torch.ones(1)]
dist.barrier()
given += ranks
print("rank", rank, *x.tolist(), *part.tolist(), *torch.cat(given).tolist(), flush=True)
dist.destroy_process_group()
