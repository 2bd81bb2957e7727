# All differences at once: num_train × num_test × D numbers in memory.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {values: ok, no_loops: ok, memory: too_much_memory}}

import torch


def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return ((a[:, None] - b[None]) ** 2).sum(dim=2)
