# A comprehension builds the row numbers.
# expect:
#   questions:
#     zero_row_min: {status: partial, checks: {values: ok, no_loops: loop_found}}

import torch


def zero_row_min(x):
    y = x.clone()
    y[[i for i in range(len(x))], x.argmin(dim=1)] = 0
    return y
