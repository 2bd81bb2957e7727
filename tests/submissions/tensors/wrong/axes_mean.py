# The mean over the channels.
# expect:
#   questions:
#     named_axes: {status: failed, checks: {values: wrong_value}}

import torch


def named_axes(images, weights):
    return (images * weights[:, None, None]).mean(dim=-3)
