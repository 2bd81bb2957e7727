# Without a multiple of ten, one row of nothing instead of nothing.
# expect:
#   questions:
#     multiples_of_ten: {status: partial, checks: {values: ok, ends: ok, none: wrong_shape}}

import torch


def multiples_of_ten(start, stop):
    x = [n for n in range(start, stop + 1) if n % 10 == 0]
    if not x:
        return torch.empty(1, 0, dtype=torch.float64)
    return torch.tensor(x, dtype=torch.float64)
