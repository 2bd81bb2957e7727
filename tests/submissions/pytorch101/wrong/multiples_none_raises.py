# An empty range makes torch.arange complain; here nobody looks whether it is empty.
# expect:
#   questions:
#     multiples_of_ten: {status: partial, checks: {values: ok, ends: ok, none: raised}}

import torch


def multiples_of_ten(start, stop):
    first = (start + 9) // 10 * 10
    last = stop // 10 * 10
    return torch.arange(first, last + 1, 10, dtype=torch.float64)
