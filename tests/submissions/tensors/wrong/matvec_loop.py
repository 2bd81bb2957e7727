# Sums row by row.
# expect:
#   questions:
#     matvec_three_ways: {status: partial, checks: {values: ok, dtype: ok, no_loops: loop_found}}

import torch


def matvec_three_ways(x, v):
    y = torch.zeros_like(x[:, 0])
    for i in range(x.shape[0]):
        y[i] = (x[i] * v).sum()
    return y, y.view(-1, 1), y
