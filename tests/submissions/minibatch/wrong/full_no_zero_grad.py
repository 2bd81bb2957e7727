# Gradients add up.
# expect:
#   questions:
#     train_full_batch: {status: failed, checks: {weights: wrong_value, losses: wrong_value}}

import torch


def train_full_batch(net, X, y, loss_fn, optimizer, epochs=200):
    losses = []
    for _ in range(epochs):
        loss = loss_fn(net(X), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
