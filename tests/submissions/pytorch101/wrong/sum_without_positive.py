# Where nothing is positive, the greatest number instead of 0.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, checks: {sum: ok, none: wrong_value}}

import torch


def sum_positive_entries(x):
    mask = x > 0
    return x[mask].sum().item() or x.max().item() - 1
