# Stops before row 0.
# expect:
#   questions:
#     reverse_rows: {status: failed, checks: {values: wrong_shape}}

import torch


def reverse_rows(x):
    return x[list(range(x.shape[0] - 1, 0, -1))]
