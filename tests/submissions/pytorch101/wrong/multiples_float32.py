# float32 instead of float64.
# expect:
#   questions:
#     multiples_of_ten: {status: partial, checks: {values: ok, ends: ok, none: ok, dtype: wrong_dtype}}

import torch


def multiples_of_ten(start, stop):
    return torch.tensor([float(n) for n in range(start, stop + 1) if n % 10 == 0])
