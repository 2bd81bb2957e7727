# One loop where two were asked for.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, checks: {values: ok, two_loops: loop_missing}}

import torch


def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        dists[i] = ((x_train[i] - x_test) ** 2).flatten(1).sum(dim=1)
    return dists
