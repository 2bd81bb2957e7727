# Leaves out a start that is a multiple of ten.
# expect:
#   questions:
#     multiples_of_ten: {status: partial, checks: {values: ok, ends: wrong_shape, none: ok, dtype: ok}}

import torch


def multiples_of_ten(start, stop):
    x = torch.arange(start + 1, stop + 1, dtype=torch.float64)
    return x[x % 10 == 0]
