# Broadcasts the weights along the columns.
# expect:
#   questions:
#     named_axes: {status: failed, checks: {values: raised}}

import torch


def named_axes(images, weights):
    return (images * weights).sum(dim=-3)
