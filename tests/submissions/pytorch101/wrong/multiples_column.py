# A column, as torch.nonzero returns it.
# expect:
#   questions:
#     multiples_of_ten: {status: failed, checks: {values: wrong_shape, ends: wrong_shape}}

import torch


def multiples_of_ten(start, stop):
    return ((torch.arange(start, stop + 1) % 10 == 0).nonzero() + start).double()
