# Two indices one after the other pick a block of nine.
# expect:
#   questions:
#     take_one_elem_per_col: {status: failed, checks: {values: wrong_shape}}

import torch


def take_one_elem_per_col(x):
    return x[[1, 0, 3]][:, [0, 1, 2]]
