"""A ring of batch_isend_irecv.

gpus: 2
nproc: 2
"""

import torch
import torch.distributed as dist

on_gpu = torch.cuda.is_available()
dist.init_process_group("nccl" if on_gpu else "gloo")
rank, size = dist.get_rank(), dist.get_world_size()
device = torch.device(f"cuda:{rank}" if on_gpu else "cpu")
if on_gpu:
    torch.cuda.set_device(device)
mine, theirs = torch.full((3,), float(rank), device=device), torch.zeros(3, device=device)
for _ in range(3):
    works = dist.batch_isend_irecv([
        dist.P2POp(dist.isend, mine, (rank + 1) % size),
        dist.P2POp(dist.irecv, theirs, (rank - 1) % size),
    ])  # fmt: skip
    for work in works:
        work.wait()
    mine = theirs * 2 + 1
print("rank", rank, *mine.tolist(), flush=True)
dist.destroy_process_group()
