# Changes the sign of the caller's numbers.
# expect:
#   questions:
#     take_one_elem_per_col: {status: partial, checks: {values: ok, unmodified: input_modified}}

import torch


def take_one_elem_per_col(x):
    y = x[[1, 0, 3], [0, 1, 2]]
    x.neg_()
    return y
