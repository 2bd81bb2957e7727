# Right ways to write train_to_copy. docs/authoring.md explains the cells.
# right: causal_mask

import torch


# %% copy_by_hand
# Steps without an optimiser.
# expect:
#   questions:
#     "*": {status: passed}

def train_to_copy(model, x, target, learning_rate, steps):
    weights = list(model.parameters())
    losses = []
    for _ in range(steps):
        loss = torch.nn.functional.mse_loss(model(x, causal_mask(x.size(1))), target)
        for weight, grad in zip(weights, torch.autograd.grad(loss, weights)):
            weight.data -= learning_rate * grad
        losses.append(float(loss))
    return losses
