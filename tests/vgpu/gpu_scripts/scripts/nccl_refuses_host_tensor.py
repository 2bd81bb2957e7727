"""A CPU tensor in an nccl collective, the commonest mistake.

gpus: 2
nproc: 2
raises: No backend type associated with device type cpu
"""

import torch
import torch.distributed as dist

dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
dist.all_reduce(torch.ones(2))
