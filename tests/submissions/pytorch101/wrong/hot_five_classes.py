# The five columns of the example.
# expect:
#   questions:
#     make_one_hot: {status: failed, code: wrong_shape}

import torch


def make_one_hot(x):
    y = torch.zeros(len(x), 5)
    y[torch.arange(len(x)), torch.tensor(x).clamp(max=4)] = 1
    return y
