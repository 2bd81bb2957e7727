# A comprehension over the training points.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {values: ok, no_loops: loop_found, memory: ok}}

import torch


def compute_distances_no_loops(x_train, x_test):
    return torch.stack([((x_test - x) ** 2).flatten(1).sum(1) for x in x_train])
