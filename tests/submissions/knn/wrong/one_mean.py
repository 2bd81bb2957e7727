# The mean of the squares, not their sum.
# expect:
#   questions:
#     compute_distances_one_loop: {status: failed, checks: {values: wrong_value}}

import torch


def compute_distances_one_loop(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        dists[i] = ((x_train[i] - x_test) ** 2).flatten(1).mean(dim=1)
    return dists
