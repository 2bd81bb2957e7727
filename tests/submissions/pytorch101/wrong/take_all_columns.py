# One entry of every column: fine while there are three.
# expect:
#   questions:
#     take_one_elem_per_col: {status: failed, code: raised}

import torch


def take_one_elem_per_col(x):
    return x[[1, 0, 3], list(range(x.shape[1]))]
