# Steps once more after each epoch, from gradients of zero and with no momentum: nothing moves.
# expect:
#   questions:
#     train_minibatch: {status: partial, checks: {weights: ok, losses: ok, steps: wrong_value, rows_seen: ok, learns: ok}}

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
        optimizer.zero_grad()
        rates = [group["lr"] for group in optimizer.param_groups]
        for group in optimizer.param_groups:
            group["lr"] = 0.0
        momenta = {w: s.get("momentum_buffer") for w, s in optimizer.state.items()}
        kept = {w: m.clone() for w, m in momenta.items() if m is not None}
        optimizer.step()
        for w, m in kept.items():
            optimizer.state[w]["momentum_buffer"] = m
        for group, rate in zip(optimizer.param_groups, rates):
            group["lr"] = rate
    net.train(was_training)
    return losses
