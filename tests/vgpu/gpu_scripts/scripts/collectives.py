"""Each collective once, over nccl.

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
    assert dist.get_backend() == "nccl"


def numbers():
    return torch.arange(4.0, device=device) + 10 * rank


found = []
x = numbers()
dist.all_reduce(x, op=dist.ReduceOp.MAX)
found.append(x)
x = numbers()
dist.broadcast(x, src=1)
found.append(x)
x = numbers()
dist.reduce(x, dst=0)
found.append(x if rank == 0 else torch.zeros(4, device=device))
parts = [torch.zeros(4, device=device) for _ in range(size)]
dist.all_gather(parts, numbers())
found += parts
whole = torch.zeros(8, device=device)
dist.all_gather_into_tensor(whole, numbers())
found.append(whole)
half = torch.zeros(2, device=device)
dist.reduce_scatter_tensor(half, numbers())
found.append(half)
x = torch.zeros(4, device=device)
dist.all_to_all_single(x, numbers())
found.append(x)
x = numbers()
work = dist.all_reduce(x, async_op=True)
work.wait()
found.append(x)
if rank == 0:
    dist.send(numbers(), dst=1)
else:
    x = torch.zeros(4, device=device)
    dist.recv(x, src=0)
found.append(x)
objects = [None] * size
dist.all_gather_object(objects, {"rank": rank})
assert objects == [{"rank": 0}, {"rank": 1}]
group = dist.new_group([0, 1])
x = numbers()
dist.all_reduce(x, group=group)
found.append(x)
dist.barrier()
print("rank", rank, *[item.sum().item() for item in found], flush=True)
dist.destroy_process_group()
