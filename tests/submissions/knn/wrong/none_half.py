# Half precision inside, right for small whole numbers.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {values: ok, images: wrong_value}}

import torch


def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1).half().float(), x_test.flatten(1).half().float()
    squared = (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T
    return squared.to(x_train.dtype)
