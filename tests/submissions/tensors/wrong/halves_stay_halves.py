# The sum in half precision.
# expect:
#   questions:
#     sum_of_halves: {status: partial, checks: {small: ok, large: not_finite, dtype: wrong_dtype}}

import torch


def sum_of_halves(x):
    return x.sum()
