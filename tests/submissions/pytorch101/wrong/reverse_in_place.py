# Reverses the caller's tensor too.
# expect:
#   questions:
#     reverse_rows: {status: partial, checks: {values: ok, dtype: ok, unmodified: input_modified}}

import torch


def reverse_rows(x):
    x[:] = x[torch.arange(x.shape[0] - 1, -1, -1)]
    return x
