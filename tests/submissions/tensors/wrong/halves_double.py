# The sum in float64.
# expect:
#   questions:
#     sum_of_halves: {status: partial, checks: {small: ok, large: ok, dtype: wrong_dtype}}

import torch


def sum_of_halves(x):
    return x.double().sum()
