# Column times column: rows and columns are swapped.
# expect:
#   questions:
#     outer_product: {status: failed, checks: {values: wrong_shape}}

import torch


def outer_product(v, w):
    return v * w.view(-1, 1)
