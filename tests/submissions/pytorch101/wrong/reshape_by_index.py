# A table of places.
# expect:
#   questions:
#     reshape_practice: {status: partial, checks: {values: ok, only_rearranges: forbidden_call}}

import torch


def reshape_practice(x):
    order = torch.arange(24).view(2, 3, 4).transpose(0, 1).reshape(3, 8)
    return x[order]
