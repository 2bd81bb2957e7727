# Wrong ways to write train_minibatch_on_gpu. docs/authoring.md explains the cells.

import torch


# %% gpu_keeps_batches
# Keeps every batch that it has moved.
# expect:
#   questions:
#     train_minibatch_on_gpu: {status: partial, checks: {losses: ok, places: ok, memory: too_much_memory}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    kept = []
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            kept.append((xx, yy))
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% gpu_labels_at_home
# Leaves the labels on the CPU.
# expect:
#   questions:
#     train_minibatch_on_gpu: {status: partial, code: raised}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% gpu_net_at_home
# Moves the batches, and not the net.
# expect:
#   questions:
#     train_minibatch_on_gpu: {status: failed, code: raised}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% gpu_batches_by_numpy
# Each batch is doubled by NumPy and halved by torch.
# expect:
#   questions:
#     train_minibatch_on_gpu: {status: partial, checks: {losses: ok, again_small: not_repeated, again_large: not_repeated, places: requirement_not_met, memory: requirement_not_met}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx = torch.from_numpy(xx.numpy() * 2).to(device) / 2
            yy = yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% gpu_net_comes_home
# Trains on the device, and brings the net back to the CPU at the end.
# expect:
#   questions:
#     train_minibatch_on_gpu: {status: partial, checks: {losses: ok, on_gpu: ok, places: wrong_device, memory: requirement_not_met}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx.to(device), yy.to(device)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    net.to("cpu")
    return losses


# %% gpu_stays_at_home
# Never uses the device that it is told.
# expect:
#   questions:
#     train_minibatch_on_gpu: {status: partial, checks: {losses: ok, on_gpu: ran_elsewhere, places: requirement_not_met, memory: requirement_not_met}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx, yy
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses


# %% gpu_whole_set
# Moves all rows to the GPU at once and takes batches from them there.
# expect:
#   questions:
#     train_minibatch_on_gpu: {status: partial, checks: {losses: ok, places: ok, memory: too_much_memory}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    X, y = (part.to(device) for part in loader.dataset.tensors)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for rows_of_batch in loader.batch_sampler:
            xx, yy = X[rows_of_batch], y[rows_of_batch]
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses
