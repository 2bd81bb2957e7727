# Context managers left out: pool closed and joined; a loader with a worker of its own.
# expect:
#   questions:
#     "*": {status: passed}

import multiprocessing

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def pool_map(f, xs, processes=5):
    pool = multiprocessing.get_context("fork").Pool(processes)
    try:
        pending = [pool.apply_async(f, (x,)) for x in xs]
        return [item.get() for item in pending]
    finally:
        pool.close()
        pool.join()


def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group(backend="gloo", rank=rank, world_size=world_size)
    model = DistributedDataParallel(model)
    sampler = DistributedSampler(dataset, shuffle=True)
    loader = DataLoader(dataset, batch_size, sampler=sampler, num_workers=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for epoch in range(epochs):
        loader.sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad(set_to_none=False)
            loss = loss_fn(model(inputs), labels)
            loss.backward()
            optimizer.step()
    distributed.destroy_process_group()
