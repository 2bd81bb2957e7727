# A norm, which is not allowed, squared again.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, checks: {two_loops: ok, no_shortcut: forbidden_call}}

import torch


def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = torch.round(torch.norm((x_train[i] - x_test[j]).double()) ** 2, decimals=6)
    return dists
