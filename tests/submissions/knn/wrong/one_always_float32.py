# torch.zeros is float32: float64 points lose digits on the way.
# expect:
#   questions:
#     compute_distances_one_loop: {status: partial, checks: {values: ok, images: wrong_value, dtype: wrong_dtype}}

import torch


def compute_distances_one_loop(x_train, x_test):
    dists = torch.zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        dists[i] = ((x_train[i] - x_test) ** 2).flatten(1).sum(dim=1)
    return dists
