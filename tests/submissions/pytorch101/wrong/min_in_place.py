# The copy is missing.
# expect:
#   questions:
#     zero_row_min: {status: partial, checks: {values: ok, dtype: ok, unmodified: input_modified}}

import torch


def zero_row_min(x):
    y = x
    y[torch.arange(x.shape[0]), x.argmin(dim=1)] = 0
    return y
