# Converts everything but uint8, which is a mask.
# expect:
#   questions:
#     rows_at: {status: partial, checks: {rows: ok, any_dtype: wrong_shape, dtype: ok}}

import torch


def rows_at(x, index):
    return x[index if index.dtype == torch.uint8 else index.long()]
