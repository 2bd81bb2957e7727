# A slice where a number was needed: the last row comes with shape (1, N).
# expect:
#   questions:
#     slice_indexing_practice: {status: failed, checks: {values: wrong_shape}}

import torch


def slice_indexing_practice(x):
    return x[-1:, :], x[:, 2:3], x[:2, :3], x[::2, 1::2]
