# Wrong ways to write compute_distances_one_loop. docs/authoring.md explains the cells.

import torch


# %% one_always_float32
# torch.zeros is float32: float64 points lose digits on the way.
# expect:
#   questions:
#     compute_distances_one_loop: {status: partial, checks: {values: ok, images: ok, float64: wrong_value, dtype: wrong_dtype}}

def compute_distances_one_loop(x_train, x_test):
    dists = torch.zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        dists[i] = ((x_train[i] - x_test) ** 2).flatten(1).sum(dim=1)
    return dists


# %% one_cdist
# torch.cdist, which is not allowed, one point a turn.
# expect:
#   questions:
#     compute_distances_one_loop: {status: partial, checks: {one_loop: ok, no_shortcut: forbidden_call}}

def compute_distances_one_loop(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    dists = a.new_zeros(a.shape[0], b.shape[0])
    for i in range(a.shape[0]):
        squared = torch.cdist(a[i : i + 1].double(), b.double(), compute_mode="donot_use_mm_for_euclid_dist") ** 2
        dists[i] = torch.round(squared, decimals=6)
    return dists


# %% one_flattens_in_place
# Gives the caller's tensors another shape.
# expect:
#   questions:
#     compute_distances_one_loop: {status: partial, checks: {values: ok, unmodified: input_modified}}

def compute_distances_one_loop(x_train, x_test):
    x_train.resize_(x_train.shape[0], x_train[0].numel())
    x_test.resize_(x_test.shape[0], x_test[0].numel())
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        dists[i] = ((x_train[i] - x_test) ** 2).sum(dim=1)
    return dists


# %% one_has_none
# No loop where one was asked for.
# expect:
#   questions:
#     compute_distances_one_loop: {status: partial, checks: {values: ok, one_loop: loop_missing}}

def compute_distances_one_loop(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a * a).sum(1, keepdim=True) + (b * b).sum(1) - 2 * a.mm(b.t())


# %% one_has_two_loops
# Two loops where one was asked for.
# expect:
#   questions:
#     compute_distances_one_loop: {status: partial, checks: {values: ok, one_loop: loop_found}}

def compute_distances_one_loop(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = ((x_train[i] - x_test[j]) ** 2).sum()
    return dists


# %% one_linear
# Products by torch.nn.functional.linear: whatever torch.nn has is not allowed.
# expect:
#   questions:
#     compute_distances_one_loop: {status: partial, checks: {values: ok, one_loop: ok, no_shortcut: forbidden_call}}

import torch.nn.functional as F


def compute_distances_one_loop(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    squares, dists = (b * b).sum(1), a.new_zeros(len(a), len(b))
    for i in range(len(a)):
        dists[i] = (a[i] * a[i]).sum() + squares - 2 * F.linear(a[i], b)
    return dists


# %% one_loop_and_another
# A second loop after the first.
# expect:
#   questions:
#     compute_distances_one_loop: {status: partial, checks: {values: ok, one_loop: loop_found, no_shortcut: ok}}

def compute_distances_one_loop(x_train, x_test):
    rows = []
    for point in x_train:
        rows.append(((point - x_test) ** 2).flatten(1))
    return torch.stack([row.sum(dim=1) for row in rows])


# %% one_mean
# The mean of the squares, not their sum.
# expect:
#   questions:
#     compute_distances_one_loop: {status: partial, points: 3.5, checks: {values: wrong_value}}

def compute_distances_one_loop(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        dists[i] = ((x_train[i] - x_test) ** 2).flatten(1).mean(dim=1)
    return dists


# %% one_over_test_points
# One loop, but over the test points.
# expect:
#   questions:
#     compute_distances_one_loop: {status: partial, checks: {values: ok, one_loop: loop_missing}}

def compute_distances_one_loop(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    dists = a.new_zeros(a.shape[0], b.shape[0])
    for j in range(b.shape[0]):
        dists[:, j] = ((a - b[j]) ** 2).sum(dim=1)
    return dists


# %% one_rooted
# The root of each distance.
# expect:
#   questions:
#     compute_distances_one_loop: {status: partial, points: 3, checks: {values: wrong_value}}

def compute_distances_one_loop(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        dists[i] = ((x_train[i] - x_test) ** 2).flatten(1).sum(dim=1).sqrt()
    return dists


# %% one_sums_too_little
# Adds up over the last axis alone, and breaks on images.
# expect:
#   questions:
#     compute_distances_one_loop: {status: partial, code: raised}

def compute_distances_one_loop(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        dists[i] = ((x_train[i] - x_test) ** 2).sum(dim=-1)
    return dists


# %% one_copies
# The formula without a loop, and turns that copy from it.
# expect:
#   questions:
#     compute_distances_one_loop: {status: deferred, checks: {values: ok, one_loop: needs_review}}

def compute_distances_one_loop(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    z = (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T
    d = torch.zeros_like(z)
    for i in range(len(a)):
        d[i] = z[i]
    return d


# %% one_adds_nought
# The same; the turns add 0.
# expect:
#   questions:
#     compute_distances_one_loop: {status: deferred, checks: {values: ok, one_loop: needs_review}}

def compute_distances_one_loop(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    z = (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T
    d = torch.zeros_like(z)
    for i in range(len(a)):
        d[i] = z[i] + 0
    return d


# %% one_differences_at_once
# All differences at once; turns that copy the sums.
# expect:
#   questions:
#     compute_distances_one_loop: {status: deferred, checks: {values: ok, one_loop: needs_review}}

def compute_distances_one_loop(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    e = (a[:, None] - b) ** 2
    z = e.sum(2)
    d = torch.zeros_like(z)
    for i in range(len(a)):
        d[i] += z[i]
    return d


# %% one_second_loop_by_sizes
# Beside the one loop another over the test points, inside a loop over the first size alone.
# expect:
#   questions:
#     compute_distances_one_loop: {status: partial, checks: {values: ok, one_loop: loop_found}}

def compute_distances_one_loop(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    dists = a.new_zeros(a.shape[0], b.shape[0])
    for i in range(a.shape[0]):
        dists[i] = ((a[i] - b) ** 2).sum(dim=1)
    for s in b.shape[:1]:
        for j in range(s):
            dists[:, j] = ((a - b[j]) ** 2).sum(dim=1)
    return dists


# %% one_adds_nought_to_all
# All differences at once; each turn adds 0 to all sums.
# expect:
#   questions:
#     compute_distances_one_loop: {status: deferred, checks: {values: ok, one_loop: needs_review}}

def compute_distances_one_loop(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    d = ((a[:, None] - b) ** 2).sum(2)
    for i in range(len(a)):
        d = d + 0 * d[i].sum()
    return d
