# Asks whether the numbers are equal.
# expect:
#   questions:
#     same_storage: {status: failed, code: wrong_value}

import torch


def same_storage(x, y):
    return x.shape == y.shape and torch.equal(x, y)
