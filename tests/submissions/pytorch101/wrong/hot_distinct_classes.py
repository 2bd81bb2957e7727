# As many columns as different classes.
# expect:
#   questions:
#     make_one_hot: {status: failed, code: wrong_shape}

import torch


def make_one_hot(x):
    y = torch.zeros(len(x), len(set(x)) + 1)
    y[torch.arange(len(x)), torch.tensor(x).clamp(max=len(set(x)))] = 1
    return y
