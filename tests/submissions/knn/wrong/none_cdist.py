# torch.cdist, which is not allowed.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {no_loops: ok, no_shortcut: forbidden_call}}

import torch


def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1).double(), x_test.flatten(1).double()
    squared = torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist") ** 2
    return torch.round(squared, decimals=8).to(x_train.dtype)
