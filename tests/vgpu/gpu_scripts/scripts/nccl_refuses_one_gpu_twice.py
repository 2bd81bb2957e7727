"""Ranks that forgot torch.cuda.set_device: all of them on cuda:0.

gpus: 2
nproc: 2
raises: Duplicate GPU detected
"""

import torch
import torch.distributed as dist

dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
dist.all_reduce(torch.ones(2).cuda())
