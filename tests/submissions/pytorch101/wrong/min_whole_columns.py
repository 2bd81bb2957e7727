# Every column that holds some row's minimum.
# expect:
#   questions:
#     zero_row_min: {status: failed, checks: {values: wrong_value}}

import torch


def zero_row_min(x):
    y = x.clone()
    y[:, x.argmin(dim=1)] = 0
    return y
