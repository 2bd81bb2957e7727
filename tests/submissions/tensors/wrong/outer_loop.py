# Row by row.
# expect:
#   questions:
#     outer_product: {status: partial, checks: {values: ok, no_loops: loop_found, broadcasts: ok}}

import torch


def outer_product(v, w):
    return torch.stack([number * w for number in v])
