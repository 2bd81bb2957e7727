# A product of two matrices.
# expect:
#   questions:
#     outer_product: {status: partial, checks: {values: ok, no_loops: ok, broadcasts: forbidden_call}}

import torch


def outer_product(v, w):
    return v.view(-1, 1) @ w.view(1, -1)
