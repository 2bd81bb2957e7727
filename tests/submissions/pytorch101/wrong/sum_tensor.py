# A tensor of rank 0 instead of an int.
# expect:
#   questions:
#     sum_positive_entries: {status: failed, code: wrong_type}

import torch


def sum_positive_entries(x):
    return x[x > 0].sum()
