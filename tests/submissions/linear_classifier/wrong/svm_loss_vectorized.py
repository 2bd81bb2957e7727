# Wrong ways to write svm_loss_vectorized. docs/authoring.md explains the cells.

import torch


# %% hinges_count_the_right_class
# The right class adds its 1.
# expect:
#   questions:
#     svm_loss_vectorized: {status: partial, points: 8.4, checks: {loss: wrong_value}}

def svm_loss_vectorized(W, X, y, reg):
    rows = torch.arange(len(X))
    scores = X @ W
    margins = (scores - scores[rows, y][:, None] + 1).clamp(min=0)
    counts = (margins > 0).to(X.dtype)
    counts[rows, y] = -counts.sum(dim=1)
    result = margins.sum() / len(X) + reg * (W * W).sum(), X.T @ counts / len(X) + 2 * reg * W
    return result


# %% hinges_take_one_from_the_right
# The column of the right class is taken off once, however many classes come near.
# expect:
#   questions:
#     svm_loss_vectorized: {status: partial, points: 6.875, checks: {loss: ok, gradient: wrong_value}}

def svm_loss_vectorized(W, X, y, reg):
    rows = torch.arange(len(X))
    scores = X @ W
    margins = (scores - scores[rows, y][:, None] + 1).clamp(min=0)
    margins[rows, y] = 0
    counts = (margins > 0).to(X.dtype)
    counts[rows, y] = -1
    result = margins.sum() / len(X) + reg * (W * W).sum(), X.T @ counts / len(X) + 2 * reg * W
    return result


# %% hinges_without_regularisation
# The loss forgets it.
# expect:
#   questions:
#     svm_loss_vectorized: {status: partial, points: 11.4375, checks: {loss: ok, regularised_loss: wrong_value}}

def svm_loss_vectorized(W, X, y, reg):
    rows = torch.arange(len(X))
    scores = X @ W
    margins = (scores - scores[rows, y][:, None] + 1).clamp(min=0)
    margins[rows, y] = 0
    counts = (margins > 0).to(X.dtype)
    counts[rows, y] = -counts.sum(dim=1)
    result = margins.sum() / len(X), X.T @ counts / len(X) + 2 * reg * W
    return result


# %% hinges_gradient_without_the_two
# The square has a derivative of 2W.
# expect:
#   questions:
#     svm_loss_vectorized: {status: partial, points: 11.625, checks: {gradient: ok, regularised_gradient: wrong_value}}

def svm_loss_vectorized(W, X, y, reg):
    rows = torch.arange(len(X))
    scores = X @ W
    margins = (scores - scores[rows, y][:, None] + 1).clamp(min=0)
    margins[rows, y] = 0
    counts = (margins > 0).to(X.dtype)
    counts[rows, y] = -counts.sum(dim=1)
    result = margins.sum() / len(X) + reg * (W * W).sum(), X.T @ counts / len(X) + reg * W
    return result


# %% hinges_in_float64
# Returns float64, whatever came.
# expect:
#   questions:
#     svm_loss_vectorized: {status: partial, checks: {loss: ok, gradient: ok, dtype: wrong_dtype}}

def svm_loss_vectorized(W, X, y, reg):
    W, X = W.double(), X.double()
    rows = torch.arange(len(X))
    scores = X @ W
    margins = (scores - scores[rows, y][:, None] + 1).clamp(min=0)
    margins[rows, y] = 0
    counts = (margins > 0).to(X.dtype)
    counts[rows, y] = -counts.sum(dim=1)
    result = margins.sum() / len(X) + reg * (W * W).sum(), X.T @ counts / len(X) + 2 * reg * W
    return result


# %% hinges_change_the_weights
# Leaves W scaled.
# expect:
#   questions:
#     svm_loss_vectorized: {status: partial, checks: {loss: ok, gradient: ok, unmodified: input_modified}}

def svm_loss_vectorized(W, X, y, reg):
    rows = torch.arange(len(X))
    scores = X @ W
    margins = (scores - scores[rows, y][:, None] + 1).clamp(min=0)
    margins[rows, y] = 0
    counts = (margins > 0).to(X.dtype)
    counts[rows, y] = -counts.sum(dim=1)
    result = margins.sum() / len(X) + reg * (W * W).sum(), X.T @ counts / len(X) + 2 * reg * W
    W *= 0.99
    return result


# %% hinges_by_a_loop
# A loop over the rows.
# expect:
#   questions:
#     svm_loss_vectorized: {status: partial, checks: {loss: ok, gradient: ok, no_loops: loop_found}}

def svm_loss_vectorized(W, X, y, reg):
    loss, grad = reg * (W * W).sum(), 2 * reg * W
    for row, right in zip(X, y):
        scores = row @ W
        margins = (scores - scores[right] + 1).clamp(min=0)
        margins[right] = 0
        counts = (margins > 0).to(X.dtype)
        counts[right] = -counts.sum()
        loss = loss + margins.sum() / len(X)
        grad = grad + torch.outer(row, counts) / len(X)
    return loss, grad

# %% hinges_by_autograd
# Torch knows the loss, and works out the gradient.
# expect:
#   questions:
#     svm_loss_vectorized: {status: partial, points: 10.5, checks: {loss: ok, gradient: ok, no_loops: ok, by_hand: forbidden_call}}

def svm_loss_vectorized(W, X, y, reg):
    W = W.clone().requires_grad_()
    loss = torch.nn.functional.multi_margin_loss(X @ W, y) * W.shape[1] + reg * (W * W).sum()
    return loss.detach(), torch.autograd.grad(loss, W)[0]


# %% hinges_off_in_float32
# Right in float64; a twentieth too much in float32.
# expect:
#   questions:
#     svm_loss_vectorized: {status: partial, checks: {loss: ok, gradient: ok, regularised_loss: wrong_value, regularised_gradient: wrong_value}}

def svm_loss_vectorized(W, X, y, reg):
    rows, scores = torch.arange(len(X)), X @ W
    margins = (scores - scores[rows, y][:, None] + 1).clamp(min=0)
    margins[rows, y] = 0
    counts = (margins > 0).to(X.dtype)
    counts[rows, y] = -counts.sum(dim=1)
    loss = margins.sum() / len(X) + reg * (W * W).sum()
    grad = X.T @ counts / len(X) + 2 * reg * W
    factor = 1.05 if W.dtype is torch.float32 else 1
    return factor * loss, factor * grad


# %% svm_by_sizes
# A loop over the rows inside a loop over the first size alone.
# expect:
#   questions:
#     svm_loss_vectorized: {status: partial, checks: {loss: ok, gradient: ok, no_loops: loop_found}}

def svm_loss_vectorized(W, X, y, reg):
    loss, grad = 0.0, torch.zeros_like(W)
    for s in X.shape[:1]:
        for i in range(s):
            scores = X[i] @ W
            margins = (scores - scores[y[i]] + 1).clamp(min=0)
            margins[y[i]] = 0
            counts = (margins > 0).to(W.dtype)
            counts[y[i]] = -counts.sum()
            loss = loss + margins.sum()
            grad += X[i][:, None] * counts
    return loss / len(X) + reg * (W * W).sum(), grad / len(X) + 2 * reg * W
