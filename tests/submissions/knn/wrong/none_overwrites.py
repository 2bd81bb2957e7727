# Squares the caller's points in place, once the product is done.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {values: ok, unmodified: input_modified}}

import torch


def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    dists = -2 * a @ b.T
    dists += a.square_().sum(1, keepdim=True)
    dists += b.square_().sum(1)
    return dists
