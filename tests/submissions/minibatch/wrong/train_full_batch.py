# Wrong ways to write train_full_batch. docs/authoring.md explains the cells.

import torch


# %% full_hundred
# 100 epochs where nothing is said.
# expect:
#   questions:
#     train_full_batch: {status: partial, checks: {weights: ok, default: wrong_value}}

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=100):
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = loss_fn(net(X), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% full_list_of_ints
# A step too many, of which no loss is told.
# expect:
#   questions:
#     train_full_batch: {status: partial}

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = loss_fn(net(X), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    optimizer.step()
    return losses


# %% full_loss_after_step
# The loss after each step, not the one that it was made from.
# expect:
#   questions:
#     train_full_batch: {status: partial, checks: {weights: ok, losses: wrong_value}}

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = loss_fn(net(X), y)
        loss.backward()
        optimizer.step()
        losses.append(loss_fn(net(X), y).item())
    return losses


# %% full_no_zero_grad
# Gradients add up.
# expect:
#   questions:
#     train_full_batch:
#       status: partial
#       checks: {weights: wrong_value, losses: wrong_value}
#       says: optimizer.zero_grad()

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    losses = []
    for _ in range(epochs):
        loss = loss_fn(net(X), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% full_no_zero_grad_and_loss_after_step
# Gradients add up, and each loss is the one after its step.
# expect:
#   questions:
#     train_full_batch:
#       status: partial
#       checks: {weights: wrong_value, losses: wrong_value}
#       says: "backward() added to gradients of an earlier step: call optimizer.zero_grad() in every step."

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    losses = []
    for _ in range(epochs):
        loss = loss_fn(net(X), y)
        loss.backward()
        optimizer.step()
        losses.append(loss_fn(net(X), y).item())
    return losses


# %% full_numpy_losses
# Losses are whole numbers.
# expect:
#   questions:
#     train_full_batch: {status: partial, checks: {losses: wrong_value}}

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = loss_fn(net(X), y)
        loss.backward()
        optimizer.step()
        losses.append(int(loss))
    return losses


# %% full_overwrites_labels
# Writes over the labels at the end.
# expect:
#   questions:
#     train_full_batch: {status: partial, checks: {weights: ok, unmodified: input_modified}}

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = loss_fn(net(X), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    y.zero_()
    return losses


# %% full_tensors
# Losses are tensors.
# expect:
#   questions:
#     train_full_batch: {status: partial, checks: {weights: ok, losses: ok, type: wrong_type}}

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = loss_fn(net(X), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


# %% full_two_backwards
# Adds up two backward passes, and steps half as far.
# expect:
#   questions:
#     train_full_batch: {status: partial, checks: {weights: ok, steps: wrong_value}}

def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = loss_fn(net(X), y)
        (2 * loss).backward()
        for group in optimizer.param_groups:
            group["lr"] /= 2
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] *= 2
        losses.append(loss.item())
    return losses
