# Wrong ways to write svm_loss_naive. docs/authoring.md explains the cells.

import torch


# %% hinge_counts_the_right_class
# The right class adds its 1.
# expect:
#   questions:
#     svm_loss_naive: {status: partial, points: 4.95, checks: {loss: wrong_value, gradient: ok}}

def svm_loss_naive(W, X, y, reg):
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        for label in range(W.shape[1]):
            margin = scores[label] - scores[right] + 1
            if margin > 0:
                loss = loss + margin
                grad[:, label] += row
                grad[:, right] -= row
    return loss / len(X) + reg * (W * W).sum(), grad / len(X) + 2 * reg * W


# %% hinge_without_the_one
# No margin of 1.
# expect:
#   questions:
#     svm_loss_naive: {status: partial, points: 3.6, checks: {loss: wrong_value}}

def svm_loss_naive(W, X, y, reg):
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        for label in range(W.shape[1]):
            margin = scores[label] - scores[right]
            if label != right and margin > 0:
                loss = loss + margin
                grad[:, label] += row
                grad[:, right] -= row
    return loss / len(X) + reg * (W * W).sum(), grad / len(X) + 2 * reg * W


# %% hinge_gradient_forgets_the_right_class
# Nothing is taken from the column of the right class.
# expect:
#   questions:
#     svm_loss_naive: {status: partial, points: 4.125, checks: {loss: ok, gradient: wrong_value}}

def svm_loss_naive(W, X, y, reg):
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        for label in range(W.shape[1]):
            margin = scores[label] - scores[right] + 1
            if label != right and margin > 0:
                loss = loss + margin
                grad[:, label] += row
    return loss / len(X) + reg * (W * W).sum(), grad / len(X) + 2 * reg * W


# %% hinge_sums_the_gradient
# The gradient is a sum, not a mean.
# expect:
#   questions:
#     svm_loss_naive: {status: partial, points: 4.875, checks: {loss: ok, gradient: wrong_value}}

def svm_loss_naive(W, X, y, reg):
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        for label in range(W.shape[1]):
            margin = scores[label] - scores[right] + 1
            if label != right and margin > 0:
                loss = loss + margin
                grad[:, label] += row
                grad[:, right] -= row
    return loss / len(X) + reg * (W * W).sum(), grad + 2 * reg * W


# %% hinge_gradient_without_the_two
# The square has a derivative of 2W.
# expect:
#   questions:
#     svm_loss_naive: {status: partial, points: 5.75, checks: {loss: ok, gradient: ok, regularised_loss: ok, regularised_gradient: wrong_value}}

def svm_loss_naive(W, X, y, reg):
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        for label in range(W.shape[1]):
            margin = scores[label] - scores[right] + 1
            if label != right and margin > 0:
                loss = loss + margin
                grad[:, label] += row
                grad[:, right] -= row
    return loss / len(X) + reg * (W * W).sum(), grad / len(X) + reg * W


# %% hinge_half_the_regularisation
# A factor of one half that nobody asked for.
# expect:
#   questions:
#     svm_loss_naive: {status: partial, points: 5.75, checks: {loss: ok, regularised_loss: wrong_value, regularised_gradient: ok}}

def svm_loss_naive(W, X, y, reg):
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        for label in range(W.shape[1]):
            margin = scores[label] - scores[right] + 1
            if label != right and margin > 0:
                loss = loss + margin
                grad[:, label] += row
                grad[:, right] -= row
    return loss / len(X) + 0.5 * reg * (W * W).sum(), grad / len(X) + 2 * reg * W


# %% hinge_in_float64
# Returns float64, whatever came.
# expect:
#   questions:
#     svm_loss_naive: {status: partial, checks: {loss: ok, gradient: ok, dtype: wrong_dtype}}

def svm_loss_naive(W, X, y, reg):
    W, X = W.double(), X.double()
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        for label in range(W.shape[1]):
            margin = scores[label] - scores[right] + 1
            if label != right and margin > 0:
                loss = loss + margin
                grad[:, label] += row
                grad[:, right] -= row
    return loss / len(X) + reg * (W * W).sum(), grad / len(X) + 2 * reg * W


# %% hinge_changes_the_weights
# Leaves W scaled.
# expect:
#   questions:
#     svm_loss_naive: {status: partial, checks: {loss: ok, gradient: ok, unmodified: input_modified}}

def svm_loss_naive(W, X, y, reg):
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        for label in range(W.shape[1]):
            margin = scores[label] - scores[right] + 1
            if label != right and margin > 0:
                loss = loss + margin
                grad[:, label] += row
                grad[:, right] -= row
    result = loss / len(X) + reg * (W * W).sum(), grad / len(X) + 2 * reg * W
    W *= 0.99
    return result
    return loss / len(X) + reg * (W * W).sum(), grad / len(X) + 2 * reg * W


# %% svm_naive_float32_buffer
# A buffer of torch.zeros, which is float32 whatever comes: that costs the dtype's points alone.
# expect:
#   questions:
#     svm_loss_naive: {status: partial, checks: {loss: ok, gradient: ok, regularised_loss: ok, regularised_gradient: ok, dtype: wrong_dtype, unmodified: ok}}

def svm_loss_naive(W, X, y, reg):
    loss, grad = 0.0, torch.zeros(W.shape)
    for row, right in zip(X, y):
        scores = row @ W
        for label in range(W.shape[1]):
            margin = scores[label] - scores[right] + 1
            if label != right and margin > 0:
                loss = loss + margin
                grad[:, label] += row
                grad[:, right] -= row
    grad /= len(X)
    grad += 2 * reg * W
    return torch.as_tensor(loss / len(X)) + reg * (W * W).sum(), grad


# %% svm_naive_loss_is_a_number
# The loss as a Python number: that costs the dtype's points alone.
# expect:
#   questions:
#     svm_loss_naive: {status: partial, checks: {loss: ok, gradient: ok, regularised_loss: ok, regularised_gradient: ok, dtype: wrong_type, unmodified: ok}}

def svm_loss_naive(W, X, y, reg):
    loss, grad = 0.0, torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        for label in range(W.shape[1]):
            margin = scores[label] - scores[right] + 1
            if label != right and margin > 0:
                loss += margin.item()
                grad[:, label] += row
                grad[:, right] -= row
    return loss / len(X) + reg * (W * W).sum().item(), grad / len(X) + 2 * reg * W


# %% hinge_by_autograd
# Torch works out the gradient.
# expect:
#   questions:
#     svm_loss_naive: {status: partial, checks: {loss: ok, gradient: ok, dtype: ok, unmodified: ok, by_hand: forbidden_call}}

def svm_loss_naive(W, X, y, reg):
    W = W.clone().requires_grad_()
    loss = reg * (W * W).sum()
    for row, right in zip(X, y):
        scores = row @ W
        margins = torch.relu(scores - scores[right] + 1)
        loss = loss + (margins.sum() - margins[right]) / len(X)
    loss.backward()
    return loss.detach(), W.grad


# %% hinge_off_in_float32
# Right in float64; a twentieth too much in float32.
# expect:
#   questions:
#     svm_loss_naive: {status: partial, checks: {loss: ok, gradient: ok, regularised_loss: wrong_value, regularised_gradient: wrong_value}}

def svm_loss_naive(W, X, y, reg):
    loss, grad = W.new_zeros(()), torch.zeros_like(W)
    for row, right in zip(X, y):
        scores = row @ W
        for label in range(W.shape[1]):
            margin = scores[label] - scores[right] + 1
            if label != right and margin > 0:
                loss = loss + margin
                grad[:, label] += row
                grad[:, right] -= row
    loss, grad = loss / len(X) + reg * (W * W).sum(), grad / len(X) + 2 * reg * W
    factor = 1.05 if W.dtype is torch.float32 else 1
    return factor * loss, factor * grad
