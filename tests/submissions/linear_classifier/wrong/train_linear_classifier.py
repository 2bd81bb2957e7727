# Wrong ways to write train_linear_classifier. docs/authoring.md explains the cells.

import torch


# %% train_uphill
# Adds the gradient.
# expect:
#   questions:
#     train_linear_classifier: {status: partial, points: 4.8, checks: {weights: wrong_value}}

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    losses = []
    for _ in range(num_iters):
        X_batch, y_batch = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, X_batch, y_batch, reg)
        losses.append(float(loss))
        W = W + learning_rate * grad
    return W, losses


# %% train_without_regularisation
# The strength is not passed on.
# expect:
#   questions:
#     train_linear_classifier: {status: partial, points: 4.8, checks: {weights: wrong_value}}

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    losses = []
    for _ in range(num_iters):
        X_batch, y_batch = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, X_batch, y_batch, 0.0)
        losses.append(float(loss))
        W = W - learning_rate * grad
    return W, losses


# %% train_one_step_less
# A step is missing.
# expect:
#   questions:
#     train_linear_classifier: {status: partial, points: 5.6, checks: {weights: wrong_value}}

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    losses = []
    for _ in range(num_iters - 1):
        X_batch, y_batch = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, X_batch, y_batch, reg)
        losses.append(float(loss))
        W = W - learning_rate * grad
    return W, losses


# %% train_on_one_batch
# One batch for all steps.
# expect:
#   questions:
#     train_linear_classifier: {status: partial, points: 4.8, checks: {weights: wrong_value}, says: One batch is drawn for all steps}

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    losses = []
    X_batch, y_batch = sample_batch(X, y, batch_size)
    for _ in range(num_iters):
        loss, grad = loss_func(W, X_batch, y_batch, reg)
        losses.append(float(loss))
        W = W - learning_rate * grad
    return W, losses


# %% train_with_larger_steps_by_default
# Another default than was asked for.
# expect:
#   questions:
#     train_linear_classifier: {status: partial, checks: {weights: ok, losses: ok, defaults: wrong_value}}

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-2, reg=1e-5, num_iters=100, batch_size=200
):
    losses = []
    for _ in range(num_iters):
        X_batch, y_batch = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, X_batch, y_batch, reg)
        losses.append(float(loss))
        W = W - learning_rate * grad
    return W, losses


# %% train_losses_are_tensors
# Tensors instead of floats.
# expect:
#   questions:
#     train_linear_classifier: {status: partial, checks: {weights: ok, losses: ok, type: wrong_type}}

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    losses = []
    for _ in range(num_iters):
        X_batch, y_batch = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, X_batch, y_batch, reg)
        losses.append(loss)
        W = W - learning_rate * grad
    return W, losses


# %% train_losses_are_means
# Each loss is the mean so far.
# expect:
#   questions:
#     train_linear_classifier: {status: partial, checks: {weights: ok, losses: wrong_value}}

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    losses = []
    for _ in range(num_iters):
        X_batch, y_batch = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, X_batch, y_batch, reg)
        losses.append(float(loss))
        W = W - learning_rate * grad
    losses = [sum(losses[: i + 1]) / (i + 1) for i in range(len(losses))]
    return W, losses


# %% train_in_place
# Steps where the weights lie.
# expect:
#   questions:
#     train_linear_classifier: {status: partial, checks: {weights: ok, unmodified: input_modified}}

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    losses = []
    for _ in range(num_iters):
        X_batch, y_batch = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, X_batch, y_batch, reg)
        losses.append(float(loss))
        W -= learning_rate * grad
    return W, losses


# %% train_asks_for_one_row_more
# Batches are larger than was asked for.
# expect:
#   questions:
#     train_linear_classifier: {status: partial, checks: {weights: wrong_value}, says: Call sample_batch once in each step}

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    losses = []
    for _ in range(num_iters):
        X_batch, y_batch = sample_batch(X, y, batch_size + 1)
        loss, grad = loss_func(W, X_batch, y_batch, reg)
        losses.append(float(loss))
        W = W - learning_rate * grad
    return W, losses



# %% train_off_in_float32
# Right in float64 only.
# expect:
#   questions:
#     train_linear_classifier: {status: partial, checks: {weights: ok, losses: ok, float32: wrong_value, defaults: ok}}

def train_linear_classifier(
    loss_func, W, X, y, learning_rate=1e-3, reg=1e-5, num_iters=100, batch_size=200
):
    losses, factor = [], 1.05 if W.dtype is torch.float32 else 1
    for _ in range(num_iters):
        X_batch, y_batch = sample_batch(X, y, batch_size)
        loss, grad = loss_func(W, X_batch, y_batch, reg)
        losses.append(float(loss))
        W = W - learning_rate * grad
    return W * factor, losses
