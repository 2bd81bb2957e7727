# Rank 1 raises while rank 0 waits for it.
# expect:
#   questions:
#     ddp_worker: {status: partial, code: raised}

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    if rank == 1:
        raise ValueError("no data for this rank")
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=lr)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss_fn(parallel(inputs), labels).backward()
            optimizer.step()
    distributed.destroy_process_group()
