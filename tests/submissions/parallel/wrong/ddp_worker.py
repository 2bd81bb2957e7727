# Wrong ways to write ddp_worker. docs/authoring.md explains the cells.

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


# %% ddp_accumulates
# Gradients of earlier steps are never forgotten.
# expect:
#   questions:
#     ddp_worker: {status: failed, checks: {weights: wrong_value, samples: requirement_not_met, batches: requirement_not_met, order: requirement_not_met, group_closed: requirement_not_met}}

def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=lr)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            loss_fn(parallel(inputs), labels).backward()
            optimizer.step()
    distributed.destroy_process_group()


# %% ddp_adam
# Another optimiser than was asked for.
# expect:
#   questions:
#     ddp_worker: {status: failed, checks: {weights: wrong_value, samples: requirement_not_met, batches: requirement_not_met, order: requirement_not_met, group_closed: requirement_not_met}}

def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.Adam(parallel.parameters(), lr=lr)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss_fn(parallel(inputs), labels).backward()
            optimizer.step()
    distributed.destroy_process_group()


# %% ddp_all_data_everywhere
# Without a sampler each process goes through all of the data.
# expect:
#   questions:
#     ddp_worker: {status: partial, checks: {weights: ok, samples: wrong_type, batches: wrong_type, order: ok, group_closed: ok}}

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


# %% ddp_fixed_learning_rate
# The learning rate is not the one that was given.
# expect:
#   questions:
#     ddp_worker: {status: failed, checks: {weights: wrong_value, samples: requirement_not_met, batches: requirement_not_met, order: requirement_not_met, group_closed: requirement_not_met}}

def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.1)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss_fn(parallel(inputs), labels).backward()
            optimizer.step()
    distributed.destroy_process_group()


# %% ddp_never_shuffles
# The sampler deals the samples out in the order of the data, each time the same.
# expect:
#   questions:
#     ddp_worker: {status: partial, checks: {weights: ok, samples: ok, batches: ok, order: wrong_value, group_closed: ok}}

def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank, shuffle=False)
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


# %% ddp_one_epoch_too_few
# One epoch is left out.
# expect:
#   questions:
#     ddp_worker: {status: partial, checks: {weights: ok, samples: wrong_type, batches: wrong_type, order: ok, group_closed: ok}}

def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=lr)
    for epoch in range(epochs - 1):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss_fn(parallel(inputs), labels).backward()
            optimizer.step()
    distributed.destroy_process_group()


# %% ddp_overlapping_shares
# Every process takes the share of rank 0.
# expect:
#   questions:
#     ddp_worker: {status: partial, checks: {weights: ok, samples: wrong_value, batches: ok, order: ok, group_closed: ok}}

def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=0)
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


# %% ddp_smaller_batches
# Divides the batch size by the number of processes, though it is that of one.
# expect:
#   questions:
#     ddp_worker: {status: partial, checks: {weights: ok, samples: ok, batches: wrong_type, order: ok, group_closed: ok}}

def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    loader = DataLoader(dataset, batch_size=max(1, batch_size // world_size), sampler=sampler)
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=lr)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss_fn(parallel(inputs), labels).backward()
            optimizer.step()
    distributed.destroy_process_group()


# %% ddp_starts_apart
# Averages by hand, but lets each process begin with weights of its own.
# expect:
#   questions:
#     ddp_worker: {status: failed, checks: {weights: wrong_value, samples: requirement_not_met, batches: requirement_not_met, order: requirement_not_met, group_closed: requirement_not_met}}

def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss_fn(model(inputs), labels).backward()
            for parameter in model.parameters():
                distributed.all_reduce(parameter.grad)
                parameter.grad /= world_size
            optimizer.step()
    distributed.destroy_process_group()


# %% ddp_stays_in_the_group
# The process group is never left.
# expect:
#   questions:
#     ddp_worker: {status: partial, checks: {weights: ok, samples: ok, batches: ok, order: ok, group_closed: wrong_type}}

def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
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


# %% ddp_step_before_backward
# Steps with the gradients of the batch before.
# expect:
#   questions:
#     ddp_worker: {status: failed, checks: {weights: wrong_value, samples: requirement_not_met, batches: requirement_not_met, order: requirement_not_met, group_closed: requirement_not_met}}

def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=lr)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            loss = loss_fn(parallel(inputs), labels)
            optimizer.step()
            loss.backward()
    distributed.destroy_process_group()


# %% ddp_sums_gradients
# Gradients are added over the processes and never divided.
# expect:
#   questions:
#     ddp_worker: {status: failed, checks: {weights: wrong_value, samples: requirement_not_met, batches: requirement_not_met, order: requirement_not_met, group_closed: requirement_not_met}}

def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    for parameter in model.parameters():
        distributed.broadcast(parameter.data, 0)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss_fn(model(inputs), labels).backward()
            for parameter in model.parameters():
                distributed.all_reduce(parameter.grad)
            optimizer.step()
    distributed.destroy_process_group()


# %% ddp_trains_a_copy
# Trains a copy; the model that was given stays as it was.
# expect:
#   questions:
#     ddp_worker: {status: failed, checks: {weights: wrong_value, samples: requirement_not_met, batches: requirement_not_met, order: requirement_not_met, group_closed: requirement_not_met}}

import copy


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


# %% ddp_without_averaging
# The bare model is trained: nobody averages gradients.
# expect:
#   questions:
#     ddp_worker: {status: failed, checks: {weights: wrong_value, samples: requirement_not_met, batches: requirement_not_met, order: requirement_not_met, group_closed: requirement_not_met}}

def ddp_worker(rank, world_size, model, dataset, loss_fn, *, epochs, batch_size, lr):
    distributed.init_process_group("gloo", rank=rank, world_size=world_size)
    sampler = DistributedSampler(dataset, num_replicas=world_size, rank=rank)
    loader = DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss_fn(model(inputs), labels).backward()
            optimizer.step()
    distributed.destroy_process_group()


# %% ddp_without_set_epoch
# The sampler is never told which epoch it is: each has the same order.
# expect:
#   questions:
#     ddp_worker: {status: partial, checks: {weights: ok, samples: ok, batches: ok, order: wrong_value, group_closed: ok}}

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
