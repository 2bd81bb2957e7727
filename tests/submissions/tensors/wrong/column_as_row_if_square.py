# Turns the matrix round only where sizes do not fit.
# expect:
#   questions:
#     add_column: {status: failed, checks: {values: wrong_value}}

import torch


def add_column(x, w):
    if x.shape[1] == w.shape[0]:
        return x + w
    return (x.t() + w).t()
