# Keeps every batch that it has moved.
# expect:
#   questions:
#     train_minibatch_on_gpu: {status: partial, checks: {losses: ok, places: ok, memory: too_much_memory}}

import torch


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
