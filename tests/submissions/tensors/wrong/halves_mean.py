# The mean.
# expect:
#   questions:
#     sum_of_halves: {status: failed, checks: {small: wrong_value}}

import torch


def sum_of_halves(x):
    return x.float().mean()
