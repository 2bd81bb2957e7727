# Row by row.
# expect:
#   questions:
#     add_column: {status: partial, checks: {values: ok, unmodified: ok, no_loops: loop_found}}

import torch


def add_column(x, w):
    y = torch.empty_like(x)
    for i in range(len(w)):
        y[i] = x[i] + w[i]
    return y
