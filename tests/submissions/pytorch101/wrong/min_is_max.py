# The greatest number of each row.
# expect:
#   questions:
#     zero_row_min: {status: failed, checks: {values: wrong_value}}

import torch


def zero_row_min(x):
    y = x.clone()
    y[torch.arange(x.shape[0]), x.argmax(dim=1)] = 0
    return y
