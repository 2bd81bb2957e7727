# Weighs the rows, where sizes allow it.
# expect:
#   questions:
#     named_axes: {status: failed, checks: {values: raised}}

import torch


def named_axes(images, weights):
    return torch.einsum("...chw,h->...cw", images, weights)
