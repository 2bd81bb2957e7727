"""init_process_group() without a backend.

gpus: 2
nproc: 2
"""

import torch
import torch.distributed as dist

dist.init_process_group()
rank = dist.get_rank()
on_gpu = torch.cuda.is_available()
x = torch.full((3,), float(rank + 1), device=f"cuda:{rank}" if on_gpu else "cpu")
dist.all_reduce(x)
host = torch.ones(2) * rank
dist.all_reduce(host)
if rank == 0:
    print("sums", *x.tolist(), *host.tolist())
dist.destroy_process_group()
