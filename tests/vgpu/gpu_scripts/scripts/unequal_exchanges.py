"""What gloo refuses and nccl does: parts of any size to all, float8, groups that are split.

gpus: 2
nproc: 2
"""

import os

import torch
import torch.distributed as dist

on_gpu = torch.cuda.is_available()
backend = "nccl" if on_gpu else "gloo"
rank = int(os.environ["RANK"])
if on_gpu:
    torch.cuda.set_device(rank)
    dist.init_process_group(backend, device_id=torch.device("cuda", rank))
    sent = [torch.full((rank + 1,), 10.0 * rank + to, device="cuda") for to in range(2)]
    received = [torch.empty(1, device="cuda"), torch.empty(2, 1, device="cuda")]
    dist.all_to_all(received, sent)
    again = [torch.empty(1, device="cuda"), torch.empty(2, device="cuda")]
    dist.all_to_all(again, sent, async_op=True).wait()
    assert torch.equal(torch.cat(again), torch.cat([each.flatten() for each in received]))
    small = torch.full((2,), 2.0 + rank, device="cuda").to(torch.float8_e4m3fn)
    dist.broadcast(small, 1)
    alone = dist.split_group(split_ranks=[[0], [1]])
    one = torch.ones(1, device="cuda")
    dist.all_reduce(one, group=alone)
    values = [*received[0].tolist(), *received[1].flatten().tolist(), *small.float().tolist()]
    try:
        dist.all_reduce(small)
    except NotImplementedError as error:
        assert "all_reduce of float8 is not supported" in str(error)
    else:
        raise AssertionError("bytes were added")
else:
    dist.init_process_group(backend)
    one = torch.ones(1)
    values = [float(rank), 10.0 + rank, 10.0 + rank, 3.0, 3.0]
print("rank", rank, *values, *one.tolist(), flush=True)
dist.destroy_process_group()
