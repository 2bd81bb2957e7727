# Gradients are never set to zero: each step adds those of all batches before.
# expect:
#   questions:
#     train_minibatch: {status: failed, checks: {weights: wrong_value, losses: wrong_value, steps: wrong_value}}

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
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses
