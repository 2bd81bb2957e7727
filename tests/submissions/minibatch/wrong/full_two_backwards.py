# Adds up two backward passes, and steps half as far.
# expect:
#   questions:
#     train_full_batch: {status: partial, checks: {weights: ok, steps: wrong_value}}

import torch


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
