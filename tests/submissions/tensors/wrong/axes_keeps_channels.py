# Weighs, and forgets to add up.
# expect:
#   questions:
#     named_axes: {status: failed, checks: {values: wrong_shape}}

import torch


def named_axes(images, weights):
    return torch.einsum("...chw,c->...chw", images, weights)
