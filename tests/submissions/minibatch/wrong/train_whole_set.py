# One step an epoch from all rows: no mini-batches.
# expect:
#   questions:
#     train_minibatch: {status: failed, checks: {weights: wrong_value, losses: wrong_value, learns: wrong_value}}

import torch


def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    X, y = loader.dataset.tensors
    losses = []
    for _ in range(epochs):
        loss = loss_fn(net(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
