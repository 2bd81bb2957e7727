# Knows single images only.
# expect:
#   questions:
#     named_axes: {status: failed, checks: {values: raised}}

import torch


def named_axes(images, weights):
    return torch.einsum("chw,c->hw", images, weights)
