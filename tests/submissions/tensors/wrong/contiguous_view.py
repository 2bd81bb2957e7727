# Asks for a view of the same shape, which is the same layout.
# expect:
#   questions:
#     make_contiguous: {status: partial, checks: {values: ok, contiguous: wrong_value}}

import torch


def make_contiguous(x):
    return x.view(x.shape)
