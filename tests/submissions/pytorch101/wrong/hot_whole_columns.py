# Sets the columns of all classes in every row.
# expect:
#   questions:
#     make_one_hot: {status: failed, checks: {values: wrong_value}}

import torch


def make_one_hot(x):
    y = torch.zeros(len(x), max(x) + 1)
    y[:, x] = 1
    return y
