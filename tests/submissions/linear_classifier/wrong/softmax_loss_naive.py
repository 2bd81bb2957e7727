# Wrong ways to write softmax_loss_naive. docs/authoring.md explains the cells.

import torch
from torch.nn import functional


# %% entropy_overflow
# Nothing is taken off before exp.
# expect:
#   mistakes: [entropy_overflows]
#   questions:
#     softmax_loss_naive: {status: partial, checks: {loss: ok, gradient: ok, large_scores: not_finite}}

def softmax_loss_naive(W, X, y, reg):
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        powers = scores.exp()
        loss = loss + powers.sum().log() - scores[right]
        slopes = powers / powers.sum()
        slopes[right] -= 1
        grad += torch.outer(row, slopes)
    result = loss / len(X) + reg * (W * W).sum(), grad / len(X) + 2 * reg * W
    return result


# %% entropy_sum_the_loss
# A sum over the rows, not their mean.
# expect:
#   questions:
#     softmax_loss_naive: {status: partial, points: 6.575, checks: {loss: wrong_value, gradient: ok}}

def softmax_loss_naive(W, X, y, reg):
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        scores = scores - scores.max()
        powers = scores.exp()
        loss = loss + powers.sum().log() - scores[right]
        slopes = powers / powers.sum()
        slopes[right] -= 1
        grad += torch.outer(row, slopes)
    result = loss + reg * (W * W).sum(), grad / len(X) + 2 * reg * W
    return result


# %% entropy_gradient_of_probabilities
# 1 is not taken from the right class.
# expect:
#   questions:
#     softmax_loss_naive: {status: partial, points: 5.375, checks: {loss: ok, gradient: wrong_value}}

def softmax_loss_naive(W, X, y, reg):
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        scores = scores - scores.max()
        powers = scores.exp()
        loss = loss + powers.sum().log() - scores[right]
        slopes = powers / powers.sum()
        grad += torch.outer(row, slopes)
    result = loss / len(X) + reg * (W * W).sum(), grad / len(X) + 2 * reg * W
    return result


# %% entropy_without_regularisation
# The loss forgets it.
# expect:
#   questions:
#     softmax_loss_naive: {status: partial, points: 7.625, checks: {loss: ok, regularised_loss: wrong_value}}

def softmax_loss_naive(W, X, y, reg):
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        scores = scores - scores.max()
        powers = scores.exp()
        loss = loss + powers.sum().log() - scores[right]
        slopes = powers / powers.sum()
        slopes[right] -= 1
        grad += torch.outer(row, slopes)
    result = loss / len(X) + 0, grad / len(X) + 2 * reg * W
    return result


# %% entropy_gradient_without_regularisation
# The gradient forgets it.
# expect:
#   questions:
#     softmax_loss_naive: {status: partial, points: 7.625, checks: {loss: ok, regularised_loss: ok, regularised_gradient: wrong_value}}

def softmax_loss_naive(W, X, y, reg):
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        scores = scores - scores.max()
        powers = scores.exp()
        loss = loss + powers.sum().log() - scores[right]
        slopes = powers / powers.sum()
        slopes[right] -= 1
        grad += torch.outer(row, slopes)
    result = loss / len(X) + reg * (W * W).sum(), grad / len(X) + 0
    return result


# %% entropy_in_float64
# Returns float64, whatever came.
# expect:
#   questions:
#     softmax_loss_naive: {status: partial, checks: {loss: ok, gradient: ok, dtype: wrong_dtype}}

def softmax_loss_naive(W, X, y, reg):
    W, X = W.double(), X.double()
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        scores = scores - scores.max()
        powers = scores.exp()
        loss = loss + powers.sum().log() - scores[right]
        slopes = powers / powers.sum()
        slopes[right] -= 1
        grad += torch.outer(row, slopes)
    result = loss / len(X) + reg * (W * W).sum(), grad / len(X) + 2 * reg * W
    return result


# %% entropy_change_the_weights
# Leaves W scaled.
# expect:
#   questions:
#     softmax_loss_naive: {status: partial, checks: {loss: ok, gradient: ok, unmodified: input_modified}}

def softmax_loss_naive(W, X, y, reg):
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        scores = scores - scores.max()
        powers = scores.exp()
        loss = loss + powers.sum().log() - scores[right]
        slopes = powers / powers.sum()
        slopes[right] -= 1
        grad += torch.outer(row, slopes)
    result = loss / len(X) + reg * (W * W).sum(), grad / len(X) + 2 * reg * W
    W *= 0.99
    return result


# %% entropy_by_torch
# Torch knows the loss.
# expect:
#   questions:
#     softmax_loss_naive: {status: partial, checks: {loss: ok, gradient: ok, by_hand: forbidden_call}}

def softmax_loss_naive(W, X, y, reg):
    slopes = functional.softmax(X @ W, dim=1)
    slopes[torch.arange(len(X)), y] -= 1
    loss = functional.cross_entropy(X @ W, y) + reg * (W * W).sum()
    return loss, X.T @ slopes / len(X) + 2 * reg * W

# %% entropy_by_autograd
# The loss is written out row by row, and torch works out the gradient.
# expect:
#   questions:
#     softmax_loss_naive: {status: partial, checks: {loss: ok, gradient: ok, by_hand: forbidden_call}}

def softmax_loss_naive(W, X, y, reg):
    def of_weights(weights):
        loss = reg * (weights * weights).sum()
        for row, right in zip(X, y):
            scores = row @ weights
            scores = scores - scores.max().detach()
            loss = loss + (scores.exp().sum().log() - scores[right]) / len(X)
        return loss

    return of_weights(W), torch.func.grad(of_weights)(W)


# %% entropy_off_in_float32
# Right in float64; a twentieth too much in float32.
# expect:
#   questions:
#     softmax_loss_naive: {status: partial, checks: {loss: ok, gradient: ok, regularised_loss: wrong_value, regularised_gradient: wrong_value}}

def softmax_loss_naive(W, X, y, reg):
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        powers = (scores - scores.max()).exp()
        loss = loss + powers.sum().log() - (scores - scores.max())[right]
        slopes = powers / powers.sum()
        slopes[right] -= 1
        grad += row[:, None] * slopes
    loss, grad = loss / len(X) + reg * (W * W).sum(), grad / len(X) + 2 * reg * W
    factor = 1.05 if W.dtype is torch.float32 else 1
    return factor * loss, factor * grad
