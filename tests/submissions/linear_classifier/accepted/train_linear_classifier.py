# Right ways to write train_linear_classifier. docs/authoring.md explains the cells.

import torch


# %% train_by_name
# Calls everything by name.
# right: sample_batch
# expect:
#   questions:
#     "*": {status: passed}

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    losses = []
    for _ in range(num_iters):
        X_batch, y_batch = sample_batch(X=X, y=y, batch_size=batch_size)
        loss, grad = loss_func(W=W, X=X_batch, y=y_batch, reg=reg)
        losses.append(loss.item())
        W = W - learning_rate * grad
    return W, losses
