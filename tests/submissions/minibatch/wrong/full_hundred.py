# 100 epochs where nothing is said.
# expect:
#   questions:
#     train_full_batch: {status: partial, checks: {weights: ok, default: wrong_value}}

import torch


def train_full_batch(net, X, y, loss_fn, optimizer, epochs=100):
    losses = []
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = loss_fn(net(X), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
