# Trains a copy; the model that was given stays as it was.
# expect:
#   questions:
#     ddp_worker: {status: failed, checks: {weights: wrong_value, samples: requirement_not_met, batches: requirement_not_met, order: requirement_not_met, group_closed: requirement_not_met}}

import copy

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    parallel = DistributedDataParallel(copy.deepcopy(model))
    optimizer = torch.optim.SGD(parallel.parameters(), lr=lr)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss_fn(parallel(inputs), labels).backward()
            optimizer.step()
    distributed.destroy_process_group()
