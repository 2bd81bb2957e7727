# Row by row.
# expect:
#   questions:
#     zero_row_min: {status: partial, checks: {values: ok, dtype: ok, unmodified: ok, no_loops: loop_found}}

import torch


def zero_row_min(x):
    y = x.clone()
    for i in range(x.shape[0]):
        y[i, x[i].argmin()] = 0
    return y
