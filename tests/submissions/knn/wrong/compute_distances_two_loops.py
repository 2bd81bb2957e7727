# Wrong ways to write compute_distances_two_loops. docs/authoring.md explains the cells.

import torch


# %% two_absolute
# Absolute differences instead of squares.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, points: 2.5, checks: {values: wrong_value}}

def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = (x_train[i] - x_test[j]).abs().sum()
    return dists


# %% two_always_float32
# torch.zeros is float32: float64 points lose digits on the way.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, checks: {values: ok, images: ok, float64: wrong_value, dtype: wrong_dtype}}

def compute_distances_two_loops(x_train, x_test):
    dists = torch.zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = torch.sum(torch.square(x_train[i] - x_test[j]))
    return dists


# %% two_half
# Half precision inside, right for small whole numbers.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, checks: {values: ok, images: wrong_value, dtype: ok}}

def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            difference = x_train[i].half() - x_test[j].half()
            dists[i, j] = (difference.float() ** 2).sum()
    return dists


# %% two_has_one_loop
# One loop where two were asked for.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, checks: {values: ok, two_loops: loop_missing}}

def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        dists[i] = ((x_train[i] - x_test) ** 2).flatten(1).sum(dim=1)
    return dists


# %% two_mse
# The mean squared error of torch.nn.functional, times the number of entries.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, checks: {two_loops: ok, no_shortcut: forbidden_call}}

import torch.nn.functional as F


def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = F.mse_loss(x_train[i], x_test[j], reduction="sum")
    return dists


# %% two_norm
# A norm, which is not allowed, squared again.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, checks: {two_loops: ok, no_shortcut: forbidden_call}}

def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = torch.round(torch.norm((x_train[i] - x_test[j]).double()) ** 2, decimals=6)
    return dists


# %% two_overwrites
# Centres the points on the way, in the caller's tensors.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, checks: {values: ok, unmodified: input_modified}}

def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    x_train += 1
    x_test += 1
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = ((x_train[i] - x_test[j]) ** 2).sum()
    return dists


# %% two_rooted
# The root of each distance, as most people know it.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, points: 3, checks: {values: wrong_value}}

def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = torch.sqrt(((x_train[i] - x_test[j]) ** 2).sum())
    return dists


# %% two_transposed
# Test points in rows.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, points: 3.5, checks: {values: wrong_shape}}

def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros(x_test.shape[0], x_train.shape[0])
    for i in range(x_test.shape[0]):
        for j in range(x_train.shape[0]):
            dists[i, j] = ((x_test[i] - x_train[j]) ** 2).sum()
    return dists


# %% two_vectors_only
# Adds up over the first axis of a point alone: right for vectors.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, code: raised}

def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = ((x_train[i] - x_test[j]) ** 2).sum(dim=0)
    return dists


# %% two_module
# A layer of torch.nn multiplies: whatever torch.nn has is not allowed.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, checks: {values: ok, two_loops: ok, no_shortcut: forbidden_call}}

from torch import nn


def compute_distances_two_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    times = nn.Bilinear(a.shape[1], a.shape[1], 1, bias=False, dtype=a.dtype)
    times.weight.data = torch.eye(a.shape[1], dtype=a.dtype)[None]
    dists = a.new_zeros(len(a), len(b))
    for i in range(len(a)):
        for j in range(len(b)):
            dists[i, j] = times(a[i] - b[j], a[i] - b[j]).detach()[0]
    return dists


# %% two_copies
# The formula without a loop, and turns that copy from it.
# expect:
#   questions:
#     compute_distances_two_loops: {status: deferred, checks: {values: ok, two_loops: needs_review}}

def compute_distances_two_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    z = (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T
    d = torch.zeros_like(z)
    for i in range(len(a)):
        for j in range(len(b)):
            d[i, j] = z[i, j]
    return d


# %% two_adds_nought
# The same; the turns add 0.
# expect:
#   questions:
#     compute_distances_two_loops: {status: deferred, checks: {values: ok, two_loops: needs_review}}

def compute_distances_two_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    z = (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T
    d = torch.zeros_like(z)
    for i in range(len(a)):
        for j in range(len(b)):
            d[i, j] = z[i, j] + 0
    return d


# %% two_idle_inner_loop
# A row a turn; the inner loop copies its entries.
# expect:
#   questions:
#     compute_distances_two_loops: {status: deferred, checks: {values: ok, two_loops: needs_review}}

def compute_distances_two_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    d = torch.zeros(len(a), len(b), dtype=a.dtype)
    for i in range(len(a)):
        row = ((a[i] - b) ** 2).sum(1)
        for j in range(len(b)):
            d[i, j] = row[j]
    return d
