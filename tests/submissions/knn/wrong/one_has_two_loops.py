# Two loops where one was asked for.
# expect:
#   questions:
#     compute_distances_one_loop: {status: partial, checks: {values: ok, one_loop: loop_found}}

import torch


def compute_distances_one_loop(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = ((x_train[i] - x_test[j]) ** 2).sum()
    return dists
