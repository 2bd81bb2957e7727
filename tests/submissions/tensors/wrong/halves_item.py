# A Python number.
# expect:
#   questions:
#     sum_of_halves: {status: failed, checks: {small: wrong_type}}

import torch


def sum_of_halves(x):
    return x.float().sum().item()
