# Multiplies by a mask of floats, which makes floats of whole numbers.
# expect:
#   questions:
#     zero_row_min: {status: partial, checks: {values: ok, dtype: wrong_dtype, unmodified: ok}}

import torch


def zero_row_min(x):
    mask = (x != x.min(dim=1, keepdim=True).values).float()
    return x * mask
