# Centres the points on the way, in the caller's tensors.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, checks: {values: ok, unmodified: input_modified}}

import torch


def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    x_train += 1
    x_test += 1
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = ((x_train[i] - x_test[j]) ** 2).sum()
    return dists
