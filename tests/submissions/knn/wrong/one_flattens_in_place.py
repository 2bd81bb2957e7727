# Gives the caller's tensors another shape.
# expect:
#   questions:
#     compute_distances_one_loop: {status: partial, checks: {values: ok, unmodified: input_modified}}

import torch


def compute_distances_one_loop(x_train, x_test):
    x_train.resize_(x_train.shape[0], x_train[0].numel())
    x_test.resize_(x_test.shape[0], x_test[0].numel())
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        dists[i] = ((x_train[i] - x_test) ** 2).sum(dim=1)
    return dists
