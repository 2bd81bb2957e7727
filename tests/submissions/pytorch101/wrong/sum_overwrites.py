# Sets the negative numbers of the caller's tensor to zero.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, checks: {sum: ok, none: ok, unmodified: input_modified}}

import torch


def sum_positive_entries(x):
    x[x < 0] = 0
    return x.sum().item()
