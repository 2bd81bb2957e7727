# Forgets that class 0 needs a column too.
# expect:
#   questions:
#     make_one_hot: {status: failed, code: raised}

import torch


def make_one_hot(x):
    y = torch.zeros(len(x), max(x))
    y[torch.arange(len(x)), x] = 1
    return y
