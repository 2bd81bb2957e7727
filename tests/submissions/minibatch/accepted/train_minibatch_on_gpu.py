# Right ways to write train_minibatch_on_gpu. docs/authoring.md explains the cells.

import torch


# %% gpu_by_way_of_lists
# Makes each batch anew from Python's numbers: slow, but right.
# expect:
#   questions: {"*": {status: passed}}

def train_minibatch(net, loader, loss_fn, optimizer, epochs, device="cpu"):
    was_training = net.training
    net.to(device)
    net.train()
    losses = []
    for _ in range(epochs):
        total = rows = 0
        for batch in loader:
            xx, yy = (torch.tensor(part.tolist(), dtype=part.dtype).to(device) for part in batch)
            loss = loss_fn(net(xx), yy)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xx)
            rows += len(xx)
        losses.append(total / rows)
    net.train(was_training)
    return losses
