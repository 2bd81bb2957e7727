# Rows and columns change places; x need not have four columns.
# expect:
#   questions:
#     take_one_elem_per_col: {status: failed, code: raised}

import torch


def take_one_elem_per_col(x):
    return x[[0, 1, 2], [1, 0, 3]]
