# Begins with the multiple of ten below the start.
# expect:
#   questions:
#     multiples_of_ten: {status: partial, checks: {values: wrong_shape, ends: ok}}

import torch


def multiples_of_ten(start, stop):
    return torch.arange(start // 10 * 10, stop + 1, 10, dtype=torch.float64)
