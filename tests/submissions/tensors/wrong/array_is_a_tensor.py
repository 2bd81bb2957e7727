# Returns the tensor.
# expect:
#   questions:
#     as_numpy: {status: partial, checks: {values: ok, an_array: wrong_value, shared: ok, gradients: ok}}

import torch


def as_numpy(x):
    return x.detach()
