# Sets the column that was used twice to zero, in the caller's tensor.
# expect:
#   questions:
#     shuffle_cols: {status: partial, checks: {values: ok, dtype: ok, unmodified: input_modified}}

import torch


def shuffle_cols(x):
    y = x[:, [0, 0, 2, 1]]
    x[:, 0] = 0
    return y
