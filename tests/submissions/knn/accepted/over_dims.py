# Right ways that go through the dimensions of a point. docs/authoring.md explains the cells.
# right: compute_distances_two_loops, compute_distances_one_loop, compute_distances_no_loops

import torch


# %% multiplies_sizes
# Counts the entries of a point in a loop over its sizes, beside the loops that are asked for.
# expect:
#   questions:
#     "*": {status: passed}

def compute_distances_two_loops(x_train, x_test):
    D = 1
    for s in x_train.shape[1:]:
        D *= s
    dists = x_train.new_zeros(len(x_train), len(x_test))
    for i in range(len(x_train)):
        for j in range(len(x_test)):
            dists[i, j] = ((x_train[i].reshape(D) - x_test[j].reshape(D)) ** 2).sum()
    return dists


def compute_distances_one_loop(x_train, x_test):
    D = 1
    for i in range(1, len(x_train.shape)):
        D *= x_train.shape[i]
    a, b = x_train.reshape(-1, D), x_test.reshape(-1, D)
    dists = a.new_zeros(len(a), len(b))
    for i in range(len(a)):
        dists[i] = ((a[i] - b) ** 2).sum(dim=1)
    return dists


def compute_distances_no_loops(x_train, x_test):
    D = 1
    for d in range(1, x_train.dim()):
        D = D * x_train.size(d)
    a, b = x_train.reshape(-1, D), x_test.reshape(-1, D)
    return (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T


# %% counts_by_recursion
# Counts the entries of a point by a function that calls itself with the rest of the sizes.
# expect:
#   questions:
#     "*": {status: passed}

def entries(shape):
    if len(shape) == 0:
        return 1
    return shape[0] * entries(shape[1:])


def compute_distances_one_loop(x_train, x_test):
    D = entries(x_train.shape[1:])
    a, b = x_train.reshape(-1, D), x_test.reshape(-1, D)
    return torch.stack([((row - b) ** 2).sum(dim=1) for row in a])


def compute_distances_no_loops(x_train, x_test):
    def count(sizes, so_far=1):
        return so_far if not sizes else count(sizes[1:], so_far * sizes[0])

    D = count(x_test.shape[1:])
    a, b = x_train.reshape(-1, D), x_test.reshape(-1, D)
    return a.square().sum(1, keepdim=True) + b.square().sum(1) - 2 * a.mm(b.t())


# %% counts_in_a_helper
# Multiplies sizes in a helper, and by reduce.
# expect:
#   questions:
#     "*": {status: passed}

from functools import reduce
from operator import mul


def entries(sizes):
    n = 1
    for size in sizes:
        n *= size
    return n


def compute_distances_one_loop(x_train, x_test):
    D = reduce(mul, x_train.shape[1:], 1)
    a, b = x_train.reshape(-1, D), x_test.reshape(-1, D)
    rows = []
    for row in a:
        rows.append(((row - b) ** 2).sum(dim=1))
    return torch.stack(rows)


def compute_distances_no_loops(x_train, x_test):
    D = entries(x_test.shape[1:])
    a, b = x_train.reshape(-1, D), x_test.reshape(-1, D)
    return a.square().sum(1, keepdim=True) + b.square().sum(1) - 2 * a.mm(b.t())
