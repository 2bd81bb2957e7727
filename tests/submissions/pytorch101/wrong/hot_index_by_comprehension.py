# A comprehension that only builds an index is a comprehension all the same.
# expect:
#   questions:
#     make_one_hot: {status: partial, checks: {values: ok, dtype: ok, no_loops: loop_found}}

import torch


def make_one_hot(x):
    y = torch.zeros(len(x), max(x) + 1)
    y[[i for i in range(len(x))], x] = 1
    return y
