# float64 whatever came in.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {values: ok, images: ok, dtype: wrong_dtype}}

import torch


def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1).double(), x_test.flatten(1).double()
    return (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T
