# Calls torch.outer.
# expect:
#   questions:
#     outer_product: {status: partial, checks: {values: ok, no_loops: ok, broadcasts: forbidden_call}}

import torch


def outer_product(v, w):
    return torch.outer(v, w)
