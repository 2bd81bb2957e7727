# Never uses the device that it is told.
# expect:
#   questions:
#     train_minibatch_on_gpu: {status: partial, checks: {losses: ok, places: wrong_device, memory: requirement_not_met}}

import torch


def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for xx, yy in loader:
            xx, yy = xx, yy
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses
