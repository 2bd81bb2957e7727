# Sums the negative ones too.
# expect:
#   questions:
#     sum_positive_entries: {status: failed, checks: {sum: wrong_value}}

import torch


def sum_positive_entries(x):
    return x.sum().item()
