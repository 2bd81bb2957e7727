# A copy.
# expect:
#   questions:
#     as_numpy: {status: partial, checks: {values: ok, an_array: ok, shared: not_a_view, gradients: not_a_view}}

import torch


def as_numpy(x):
    return x.detach().numpy().copy()
