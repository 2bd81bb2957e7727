# Right ways to write several functions. docs/authoring.md explains the cells.

import torch


# %% pool_closed_and_left
# A pool that is closed and not joined: as nobody holds it any more, Python ends and joins it.
# expect:
#   questions:
#     "*": {status: passed}

import multiprocessing


def pool_map(f, xs, processes=5):
    pool = multiprocessing.Pool(processes)
    results = pool.map(f, xs)
    pool.close()
    return results


# %% loader_with_workers
# Context managers left out: pool closed and joined; a loader with a worker of its own.
# expect:
#   questions:
#     "*": {status: passed}

import multiprocessing

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


# %% processes_otherwise
# An executor of processes, and averaging by hand with the address in the call.
# expect:
#   questions:
#     "*": {status: passed}

import os
from concurrent.futures import ProcessPoolExecutor

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


# %% second_part_otherwise
# The second part, each function in another way than the reference's: torch.chunk, timeit with fresh
# models, bars and error bars by pyplot, a sort.
# right: ModelParallelResNet50
# expect:
#   questions:
#     "*": {status: passed}

from resnet import Bottleneck, ResNet
from torch import nn
import timeit
import numpy as np
import matplotlib.pyplot as plt


class PipelineParallelResNet50(ModelParallelResNet50):
    def __init__(self, split_size=20):
        super().__init__()
        self.split_size = split_size

    def forward(self, x):
        parts = x.chunk(-(-len(x) // self.split_size))
        return torch.cat([self.fc(self.seq2(self.seq1(part).to("cuda:1")).flatten(1)) for part in parts])


def wait():
    for device in range(torch.cuda.device_count()):
        torch.cuda.synchronize(device)


def run(model):
    train(model)
    wait()


def time_training(model_fn, repeats=10):
    run(model_fn())
    names = {**globals(), "model_fn": model_fn}
    setup = "model = model_fn(); wait()"
    times = timeit.repeat("run(model)", setup, number=1, repeat=repeats, globals=names)
    return np.mean(times), np.std(times)


def plot_times(means, stds, labels, path):
    plt.figure()
    places = list(range(len(means)))
    plt.bar(places, means)
    plt.errorbar(places, means, yerr=stds, fmt="none", capsize=5)
    plt.xticks(places, labels)
    plt.ylabel("Execution time (s)")
    plt.savefig(path)
    plt.close()


def best_split_size(candidates, repeats=10):
    times = {size: time_training(lambda: PipelineParallelResNet50(size), repeats) for size in candidates}
    return sorted(candidates, key=lambda size: times[size][0])[0], times


# %% step_by_a_closure
# The optimiser calls what computes the loss.
# expect:
#   questions:
#     "*": {status: passed}

def train_step(model, loss_fn, optimizer, inputs, labels):
    def closure():
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = loss_fn(outputs, labels.to(outputs.device))
        loss.backward()
        return loss

    return optimizer.step(closure).item()


# %% step_labels_in_two_copies
# Labels go to where the model begins, and from there to where it answers.
# expect:
#   questions:
#     "*": {status: passed}

def train_step(model, loss_fn, optimizer, inputs, labels):
    device = next(model.parameters()).device
    inputs, labels = inputs.to(device), labels.to(device)
    optimizer.zero_grad()
    outputs = model(inputs)
    loss = loss_fn(outputs, labels.to(outputs.device))
    loss.backward()
    optimizer.step()
    return float(loss)
