# One minimum for the whole matrix.
# expect:
#   questions:
#     zero_row_min: {status: failed, checks: {values: wrong_value}}

import torch


def zero_row_min(x):
    y = x.clone()
    y[y == y.min()] = 0
    return y
