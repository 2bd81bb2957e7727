# The numbers of the example, whatever came in.
# expect:
#   questions:
#     reshape_practice: {status: failed, checks: {values: wrong_value}}

import torch


def reshape_practice(x):
    y = torch.arange(24)
    return y.view(2, 3, 4).transpose(0, 1).reshape(3, 8)
