# The greatest comes first.
# expect:
#   questions:
#     multiples_of_ten: {status: failed, checks: {values: wrong_value, ends: wrong_value}}

import torch


def multiples_of_ten(start, stop):
    x = torch.arange(stop, start - 1, -1, dtype=torch.float64)
    return x[x % 10 == 0]
