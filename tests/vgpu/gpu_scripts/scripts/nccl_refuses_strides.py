"""A transposed tensor in an nccl collective.

gpus: 2
nproc: 2
raises: Tensors must be contiguous
"""

import torch
import torch.distributed as dist

dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
dist.all_reduce(torch.ones(2, 3).to(f"cuda:{dist.get_rank()}").t())
