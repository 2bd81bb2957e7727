# Adds up in half precision, and converts infinity.
# expect:
#   questions:
#     sum_of_halves: {status: partial, checks: {small: ok, large: not_finite, dtype: ok}}

import torch


def sum_of_halves(x):
    return x.sum().float()
