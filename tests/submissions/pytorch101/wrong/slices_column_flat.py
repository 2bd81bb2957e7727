# A number where a slice was needed: the third column comes with shape (M,).
# expect:
#   questions:
#     slice_indexing_practice: {status: failed, checks: {values: wrong_shape}}

import torch


def slice_indexing_practice(x):
    return x[-1], x[:, 2], x[:2, :3], x[::2, 1::2]
