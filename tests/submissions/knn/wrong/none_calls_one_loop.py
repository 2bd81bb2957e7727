# The loop is in the other function.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {values: ok, no_loops: loop_found}}
#     compute_distances_one_loop: {status: passed}

import torch


def compute_distances_one_loop(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        dists[i] = ((x_train[i] - x_test) ** 2).flatten(1).sum(dim=1)
    return dists


def compute_distances_no_loops(x_train, x_test):
    return compute_distances_one_loop(x_train, x_test)
