# The loss after each step, not the one that it was made from.
# expect:
#   questions:
#     train_full_batch: {status: partial, checks: {weights: ok, losses: wrong_value}}

import torch


def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = loss_fn(net(X), y)
        loss.backward()
        optimizer.step()
        losses.append(loss_fn(net(X), y).item())
    return losses
