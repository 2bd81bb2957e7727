# Adds the product instead of subtracting it.
# expect:
#   questions:
#     compute_distances_no_loops: {status: failed, checks: {values: wrong_value}}

import torch


def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a**2).sum(1)[:, None] + (b**2).sum(1) + 2 * a @ b.T
