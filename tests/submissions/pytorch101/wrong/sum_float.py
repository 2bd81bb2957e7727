# The right number as a float.
# expect:
#   questions:
#     sum_positive_entries: {status: partial, checks: {sum: ok, none: ok, type: wrong_type, unmodified: ok}}

import torch


def sum_positive_entries(x):
    return float(x[x > 0].sum())
