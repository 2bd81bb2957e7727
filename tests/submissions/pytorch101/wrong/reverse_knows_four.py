# The rows of the example, by number.
# expect:
#   questions:
#     reverse_rows: {status: failed, checks: {values: wrong_shape}}

import torch


def reverse_rows(x):
    return x[[3, 2, 1, 0]]
