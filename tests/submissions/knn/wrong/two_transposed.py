# Test points in rows.
# expect:
#   questions:
#     compute_distances_two_loops: {status: failed, checks: {values: wrong_shape}}

import torch


def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros(x_test.shape[0], x_train.shape[0])
    for i in range(x_test.shape[0]):
        for j in range(x_train.shape[0]):
            dists[i, j] = ((x_test[i] - x_train[j]) ** 2).sum()
    return dists
