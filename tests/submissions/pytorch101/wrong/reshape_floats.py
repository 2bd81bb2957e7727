# float64 whatever came in.
# expect:
#   questions:
#     reshape_practice: {status: partial, checks: {values: ok, dtype: wrong_dtype}}

import torch


def reshape_practice(x):
    return x.double().view(2, 3, 4).permute(1, 0, 2).reshape(3, 8)
