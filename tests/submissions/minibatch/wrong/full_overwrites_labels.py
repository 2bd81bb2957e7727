# Writes over the labels at the end.
# expect:
#   questions:
#     train_full_batch: {status: partial, checks: {weights: ok, unmodified: input_modified}}

import torch


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
