# Sorts the list that it got.
# expect:
#   questions:
#     make_one_hot: {status: partial, checks: {values: ok, unmodified: input_modified}}

import torch


def make_one_hot(x):
    n = len(x)
    c = max(x) + 1
    y = torch.zeros(n, c)
    y[torch.arange(n), x] = 1
    x.sort()
    return y
