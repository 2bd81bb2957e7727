# All three return the root, and agree with one another.
# expect:
#   questions:
#     compute_distances_two_loops: {status: failed, checks: {values: wrong_value}}
#     compute_distances_one_loop: {status: failed, checks: {values: wrong_value}}
#     compute_distances_no_loops: {status: failed}

import torch


def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = ((x_train[i] - x_test[j]) ** 2).sum() ** 0.5
    return dists


def compute_distances_one_loop(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        dists[i] = ((x_train[i] - x_test) ** 2).flatten(1).sum(dim=1).sqrt()
    return dists


def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return ((a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T).sqrt()
