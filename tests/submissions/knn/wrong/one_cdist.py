# torch.cdist, which is not allowed, one point a turn.
# expect:
#   questions:
#     compute_distances_one_loop: {status: partial, checks: {one_loop: ok, no_shortcut: forbidden_call}}

import torch


def compute_distances_one_loop(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    dists = a.new_zeros(a.shape[0], b.shape[0])
    for i in range(a.shape[0]):
        squared = torch.cdist(a[i : i + 1].double(), b.double(), compute_mode="donot_use_mm_for_euclid_dist") ** 2
        dists[i] = torch.round(squared, decimals=6)
    return dists
