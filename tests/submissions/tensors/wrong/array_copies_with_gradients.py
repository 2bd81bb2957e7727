# Copies where gradients are required.
# expect:
#   questions:
#     as_numpy: {status: partial, checks: {values: ok, an_array: ok, shared: ok, gradients: not_a_view}}

import torch


def as_numpy(x):
    return x.detach().clone().numpy() if x.requires_grad else x.numpy()
