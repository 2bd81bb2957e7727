# Passes all rows through the net once more after each epoch.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: ok, rows_seen: wrong_value}}

import torch


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
        net(loader.dataset.tensors[0])
    net.train(was_training)
    return losses
