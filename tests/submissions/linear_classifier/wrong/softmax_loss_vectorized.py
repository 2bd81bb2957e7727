# Wrong ways to write softmax_loss_vectorized. docs/authoring.md explains the cells.

import torch
from torch.nn import functional


# %% entropies_overflow
# Nothing is taken off before exp.
# expect:
#   questions:
#     softmax_loss_vectorized: {status: partial, checks: {loss: ok, gradient: ok, large_scores: not_finite}}

def softmax_loss_vectorized(W, X, y, reg):
    rows = torch.arange(len(X))
    scores = X @ W
    powers = scores.exp()
    slopes = powers / powers.sum(dim=1, keepdim=True)
    loss = (powers.sum(dim=1).log() - scores[rows, y]).sum()
    slopes[rows, y] -= 1
    result = loss / len(X) + reg * (W * W).sum(), X.T @ slopes / len(X) + 2 * reg * W
    return result


# %% entropies_sum_the_loss
# A sum over the rows, not their mean.
# expect:
#   questions:
#     softmax_loss_vectorized: {status: partial, points: 10.4, checks: {loss: wrong_value, gradient: ok}}

def softmax_loss_vectorized(W, X, y, reg):
    rows = torch.arange(len(X))
    scores = X @ W
    scores = scores - scores.amax(dim=1, keepdim=True)
    powers = scores.exp()
    slopes = powers / powers.sum(dim=1, keepdim=True)
    loss = (powers.sum(dim=1).log() - scores[rows, y]).sum()
    slopes[rows, y] -= 1
    result = loss + reg * (W * W).sum(), X.T @ slopes / len(X) + 2 * reg * W
    return result


# %% entropies_gradient_of_probabilities
# 1 is not taken from the right class.
# expect:
#   questions:
#     softmax_loss_vectorized: {status: partial, points: 7.875, checks: {loss: ok, gradient: wrong_value}}

def softmax_loss_vectorized(W, X, y, reg):
    rows = torch.arange(len(X))
    scores = X @ W
    scores = scores - scores.amax(dim=1, keepdim=True)
    powers = scores.exp()
    slopes = powers / powers.sum(dim=1, keepdim=True)
    loss = (powers.sum(dim=1).log() - scores[rows, y]).sum()
    result = loss / len(X) + reg * (W * W).sum(), X.T @ slopes / len(X) + 2 * reg * W
    return result


# %% entropies_without_regularisation
# The loss forgets it.
# expect:
#   questions:
#     softmax_loss_vectorized: {status: partial, points: 13.4375, checks: {loss: ok, regularised_loss: wrong_value}}

def softmax_loss_vectorized(W, X, y, reg):
    rows = torch.arange(len(X))
    scores = X @ W
    scores = scores - scores.amax(dim=1, keepdim=True)
    powers = scores.exp()
    slopes = powers / powers.sum(dim=1, keepdim=True)
    loss = (powers.sum(dim=1).log() - scores[rows, y]).sum()
    slopes[rows, y] -= 1
    result = loss / len(X) + 0, X.T @ slopes / len(X) + 2 * reg * W
    return result


# %% entropies_gradient_without_regularisation
# The gradient forgets it.
# expect:
#   questions:
#     softmax_loss_vectorized: {status: partial, points: 13.4375, checks: {loss: ok, regularised_loss: ok, regularised_gradient: wrong_value}}

def softmax_loss_vectorized(W, X, y, reg):
    rows = torch.arange(len(X))
    scores = X @ W
    scores = scores - scores.amax(dim=1, keepdim=True)
    powers = scores.exp()
    slopes = powers / powers.sum(dim=1, keepdim=True)
    loss = (powers.sum(dim=1).log() - scores[rows, y]).sum()
    slopes[rows, y] -= 1
    result = loss / len(X) + reg * (W * W).sum(), X.T @ slopes / len(X) + 0
    return result


# %% entropies_in_float64
# Returns float64, whatever came.
# expect:
#   questions:
#     softmax_loss_vectorized: {status: partial, checks: {loss: ok, gradient: ok, dtype: wrong_dtype}}

def softmax_loss_vectorized(W, X, y, reg):
    W, X = W.double(), X.double()
    rows = torch.arange(len(X))
    scores = X @ W
    scores = scores - scores.amax(dim=1, keepdim=True)
    powers = scores.exp()
    slopes = powers / powers.sum(dim=1, keepdim=True)
    loss = (powers.sum(dim=1).log() - scores[rows, y]).sum()
    slopes[rows, y] -= 1
    result = loss / len(X) + reg * (W * W).sum(), X.T @ slopes / len(X) + 2 * reg * W
    return result


# %% entropies_change_the_weights
# Leaves W scaled.
# expect:
#   questions:
#     softmax_loss_vectorized: {status: partial, checks: {loss: ok, gradient: ok, unmodified: input_modified}}

def softmax_loss_vectorized(W, X, y, reg):
    rows = torch.arange(len(X))
    scores = X @ W
    scores = scores - scores.amax(dim=1, keepdim=True)
    powers = scores.exp()
    slopes = powers / powers.sum(dim=1, keepdim=True)
    loss = (powers.sum(dim=1).log() - scores[rows, y]).sum()
    slopes[rows, y] -= 1
    result = loss / len(X) + reg * (W * W).sum(), X.T @ slopes / len(X) + 2 * reg * W
    W *= 0.99
    return result


# %% entropies_by_torch
# Torch knows the loss.
# expect:
#   questions:
#     softmax_loss_vectorized: {status: partial, points: 12.25, checks: {loss: ok, gradient: ok, no_loops: ok, by_hand: forbidden_call}}

def softmax_loss_vectorized(W, X, y, reg):
    slopes = functional.softmax(X @ W, dim=1)
    slopes[torch.arange(len(X)), y] -= 1
    loss = functional.cross_entropy(X @ W, y) + reg * (W * W).sum()
    return loss, X.T @ slopes / len(X) + 2 * reg * W


# %% entropies_by_a_loop
# A loop over the rows.
# expect:
#   questions:
#     softmax_loss_vectorized: {status: partial, checks: {loss: ok, gradient: ok, no_loops: loop_found}}

def softmax_loss_vectorized(W, X, y, reg):
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

# %% entropies_by_autograd
# The loss is written out, and torch works out the gradient.
# expect:
#   questions:
#     softmax_loss_vectorized: {status: partial, points: 12.25, checks: {loss: ok, gradient: ok, no_loops: ok, by_hand: forbidden_call}}

def softmax_loss_vectorized(W, X, y, reg):
    def loss(W):
        scores = X @ W
        scores = scores - scores.max(dim=1, keepdim=True).values
        rights = scores.gather(1, y[:, None]).squeeze(1)
        return (scores.exp().sum(dim=1).log() - rights).sum() / len(X) + reg * (W * W).sum()

    return loss(W), torch.func.grad(loss)(W)


# %% entropies_off_in_float32
# Right in float64; a twentieth too much in float32.
# expect:
#   questions:
#     softmax_loss_vectorized: {status: partial, checks: {loss: ok, gradient: ok, regularised_loss: wrong_value, regularised_gradient: wrong_value}}

def softmax_loss_vectorized(W, X, y, reg):
    rows, scores = torch.arange(len(X)), X @ W
    scores = scores - scores.max(dim=1, keepdim=True).values
    slopes = scores.exp() / scores.exp().sum(dim=1, keepdim=True)
    loss = (scores.exp().sum(dim=1).log() - scores[rows, y]).sum() / len(X) + reg * (W * W).sum()
    slopes[rows, y] -= 1
    grad = X.T @ slopes / len(X) + 2 * reg * W
    factor = 1.05 if W.dtype is torch.float32 else 1
    return factor * loss, factor * grad


# %% entropies_wrong_cost_no_search
# A gradient of probabilities alone; the search for a classifier gets right losses.
# right: find_classifier
# expect:
#   mistakes: [entropies_gradient_of_probabilities]
#   questions:
#     softmax_loss_vectorized: {status: partial, points: 7.875, checks: {loss: ok, gradient: wrong_value}}
#     find_classifier: {status: passed}

def softmax_loss_vectorized(W, X, y, reg):
    rows, scores = torch.arange(len(X)), X @ W
    scores = scores - scores.max(dim=1, keepdim=True).values
    powers = scores.exp()
    loss = (powers.sum(dim=1).log() - scores[rows, y]).sum() / len(X) + reg * (W * W).sum()
    return loss, X.T @ (powers / powers.sum(dim=1, keepdim=True)) / len(X) + 2 * reg * W
