# Leaves the input with another shape.
# expect:
#   questions:
#     reshape_practice: {status: partial, checks: {values: ok, unmodified: input_modified, only_rearranges: ok}}

import torch


def reshape_practice(x):
    y = x.view(2, 3, 4).transpose(0, 1).reshape(3, 8)
    x.unsqueeze_(0)
    return y
