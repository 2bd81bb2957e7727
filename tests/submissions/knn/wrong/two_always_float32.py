# torch.zeros is float32: float64 points lose digits on the way.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, checks: {values: ok, images: wrong_value, dtype: wrong_dtype, two_loops: ok}}

import torch


def compute_distances_two_loops(x_train, x_test):
    dists = torch.zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = torch.sum(torch.square(x_train[i] - x_test[j]))
    return dists
