# Moves all rows to the GPU at once and takes batches from them there.
# expect:
#   questions:
#     train_minibatch_on_gpu: {status: partial, checks: {losses: ok, places: ok, memory: too_much_memory}}

import torch


def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    X, y = (part.to(device) for part in loader.dataset.tensors)
    net.train()
    losses = []
    for _ in range(epochs):
        total = 0.0
        rows = 0
        for rows_of_batch in loader.batch_sampler:
            xx, yy = X[rows_of_batch], y[rows_of_batch]
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses
