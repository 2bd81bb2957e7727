# Adds up in float32, which holds no whole numbers above 2**24.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, checks: {sum: ok, large_numbers: wrong_value, type: ok}}

import torch


def sum_positive_entries(x):
    return int(x[x > 0].float().sum().item())
