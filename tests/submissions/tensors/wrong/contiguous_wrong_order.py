# Reads the memory in its own order.
# expect:
#   questions:
#     make_contiguous: {status: failed, checks: {values: wrong_value}}

import torch


def make_contiguous(x):
    return x.t().contiguous().view(x.shape) if x.dim() == 2 else x.contiguous()
