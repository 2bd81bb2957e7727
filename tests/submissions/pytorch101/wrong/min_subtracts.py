# Subtracts the minimum, which makes it zero, and all else wrong.
# expect:
#   questions:
#     zero_row_min: {status: failed, checks: {values: wrong_value}}

import torch


def zero_row_min(x):
    return x - x.min(dim=1, keepdim=True).values
