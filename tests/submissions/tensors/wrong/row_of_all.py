# Adds to the first row only.
# expect:
#   questions:
#     add_row: {status: failed, checks: {values: wrong_value}}

import torch


def add_row(x, v):
    y = x.clone()
    y[0] += v
    return y
