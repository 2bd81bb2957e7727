# A contiguous copy of the transpose.
# expect:
#   questions:
#     transpose_without_copy: {status: partial, checks: {values: ok, view: not_a_view, unmodified: ok}}

import torch


def transpose_without_copy(x):
    return x.transpose(-2, -1).contiguous()
