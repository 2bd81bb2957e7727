# Row by row.
# expect:
#   questions:
#     make_one_hot: {status: partial, checks: {values: ok, dtype: ok, no_loops: loop_found}}

import torch


def make_one_hot(x):
    y = torch.zeros(len(x), max(x) + 1)
    for i, label in enumerate(x):
        y[i, label] = 1
    return y
