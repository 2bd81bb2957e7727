# Channel by channel.
# expect:
#   questions:
#     named_axes: {status: partial, checks: {values: ok, dtype: ok, no_loops: loop_found}}

import torch


def named_axes(images, weights):
    grey = torch.zeros_like(images[..., 0, :, :])
    for channel, weight in enumerate(weights):
        grey += weight * images[..., channel, :, :]
    return grey
