# torch.arange leaves its end out, and here the end belongs to the range.
# expect:
#   questions:
#     multiples_of_ten: {status: partial, checks: {values: ok, ends: wrong_shape, none: ok, dtype: ok}}

import torch


def multiples_of_ten(start, stop):
    x = torch.arange(start, stop, dtype=torch.float64)
    return x[x % 10 == 0]
