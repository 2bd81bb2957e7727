# Writes the transpose into the input's memory.
# expect:
#   questions:
#     transpose_without_copy: {status: partial, checks: {values: ok, view: ok, unmodified: input_modified}}

import torch


def transpose_without_copy(x):
    turned = x.transpose(-2, -1).contiguous()
    if not x.is_contiguous():
        return x.transpose(-2, -1)
    return x.view(turned.shape).copy_(turned)
