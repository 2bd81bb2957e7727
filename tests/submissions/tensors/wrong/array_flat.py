# Flattens.
# expect:
#   questions:
#     as_numpy: {status: failed, checks: {values: wrong_shape}}

import torch


def as_numpy(x):
    return x.detach().numpy().ravel()
