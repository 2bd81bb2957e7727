# An executor of processes, and averaging by hand with the address in the call.
# expect:
#   questions:
#     "*": {status: passed}

import os
from concurrent.futures import ProcessPoolExecutor

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def pool_map(f, xs, processes=5):
    with ProcessPoolExecutor(max_workers=processes) as executor:
        return list(executor.map(f, xs))


def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    address = f"tcp://127.0.0.1:{os.environ['MASTER_PORT']}"
    dist.init_process_group("gloo", init_method=address, world_size=world_size, rank=rank)
    for parameter in model.parameters():
        dist.broadcast(parameter.data, src=0)
    sampler = DistributedSampler(dataset, seed=17, drop_last=True)
    loader = DataLoader(dataset, batch_size, sampler=sampler, drop_last=True)
    optimizer = torch.optim.SGD(model.parameters(), lr)
    for epoch in range(1, epochs + 1):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss_fn(model(x), y).backward()
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad, op=dist.ReduceOp.SUM)
                parameter.grad /= world_size
            optimizer.step()
            optimizer.zero_grad()
    dist.barrier()
    dist.destroy_process_group()
