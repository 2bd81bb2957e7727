# Without a sampler each process goes through all of the data.
# expect:
#   questions:
#     ddp_worker: {status: partial, checks: {weights: ok, samples: wrong_type, batches: wrong_type, order: ok, group_closed: ok}}

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    loader = DataLoader(dataset, batch_size=batch_size, shuffle=True)
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=lr)
    for epoch in range(epochs):
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss_fn(parallel(inputs), labels).backward()
            optimizer.step()
    distributed.destroy_process_group()
