# The sampler is never told which epoch it is: each has the same order.
# expect:
#   questions:
#     ddp_worker: {status: partial, checks: {weights: ok, samples: ok, batches: ok, order: wrong_value, group_closed: ok}}

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=lr)
    for epoch in range(epochs):
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss_fn(parallel(inputs), labels).backward()
            optimizer.step()
    distributed.destroy_process_group()
