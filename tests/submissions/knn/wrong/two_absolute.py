# Absolute differences instead of squares.
# expect:
#   questions:
#     compute_distances_two_loops: {status: failed, checks: {values: wrong_value}}

import torch


def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = (x_train[i] - x_test[j]).abs().sum()
    return dists
