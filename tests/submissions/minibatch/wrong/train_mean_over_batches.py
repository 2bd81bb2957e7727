# The mean of the batches' losses: a last batch of 2 rows counts as much as one of 8.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: ok, losses: wrong_value, steps: ok, rows_seen: ok, trains_in_train_mode: ok, mode_after: ok, learns: ok, learning_curve: ok, unmodified: requirement_not_met}}

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
            total += loss.item()
            rows += 1
        losses.append(total / rows)
    net.train(was_training)
    return losses
