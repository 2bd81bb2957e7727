# Empties the list that it got.
# expect:
#   questions:
#     make_one_hot: {status: partial, checks: {values: ok, unmodified: input_modified}}

import torch


def make_one_hot(x):
    t = torch.tensor(x)
    y = torch.zeros(len(x), max(x) + 1)
    y[torch.arange(len(x)), t] = 1
    x.clear()
    return y
