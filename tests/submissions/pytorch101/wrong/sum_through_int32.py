# Adds up in int32, where large numbers wrap round.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, checks: {sum: ok, large_numbers: wrong_value}}

import torch


def sum_positive_entries(x):
    return x[x > 0].int().sum(dtype=torch.int32).item()
