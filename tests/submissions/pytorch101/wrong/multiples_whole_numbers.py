# int64, which torch.arange makes of whole numbers.
# expect:
#   questions:
#     multiples_of_ten: {status: partial, checks: {values: ok, ends: ok, none: ok, dtype: wrong_dtype}}

import torch


def multiples_of_ten(start, stop):
    x = torch.arange(start, stop + 1)
    return x[x % 10 == 0]
