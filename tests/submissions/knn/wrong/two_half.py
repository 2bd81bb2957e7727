# Half precision inside, right for small whole numbers.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, checks: {values: ok, images: wrong_value, dtype: ok}}

import torch


def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            difference = x_train[i].half() - x_test[j].half()
            dists[i, j] = (difference.float() ** 2).sum()
    return dists
