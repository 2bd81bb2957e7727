# Forgets detach().
# expect:
#   questions:
#     as_numpy: {status: partial, checks: {values: ok, an_array: ok, shared: ok, gradients: raised}}

import torch


def as_numpy(x):
    return x.numpy()
