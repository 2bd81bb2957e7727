# Wrong ways to write named_axes. docs/authoring.md explains the cells.

import torch


# %% axes_float32
# In float32 throughout.
# expect:
#   questions:
#     named_axes: {status: partial, checks: {values: ok, dtype: wrong_dtype, no_loops: ok}}

def named_axes(images, weights):
    return torch.einsum("...chw,c->...hw", images.float(), weights.float())


# %% axes_keeps_channels
# Weighs, and forgets to add up.
# expect:
#   questions:
#     named_axes: {status: partial, checks: {values: wrong_shape}}

def named_axes(images, weights):
    return torch.einsum("...chw,c->...chw", images, weights)


# %% axes_last
# Broadcasts the weights along the columns.
# expect:
#   questions:
#     named_axes: {status: partial, checks: {values: raised}}

def named_axes(images, weights):
    return (images * weights).sum(dim=-3)


# %% axes_loop
# Channel by channel.
# expect:
#   questions:
#     named_axes: {status: partial, checks: {values: ok, dtype: ok, no_loops: loop_found}}

def named_axes(images, weights):
    grey = torch.zeros_like(images[..., 0, :, :])
    for channel, weight in enumerate(weights):
        grey += weight * images[..., channel, :, :]
    return grey


# %% axes_mean
# The mean over the channels.
# expect:
#   questions:
#     named_axes: {status: partial, checks: {values: wrong_value}}

def named_axes(images, weights):
    return (images * weights[:, None, None]).mean(dim=-3)


# %% axes_one_image
# Knows single images only.
# expect:
#   questions:
#     named_axes: {status: failed, checks: {values: raised}}

def named_axes(images, weights):
    return torch.einsum("chw,c->hw", images, weights)


# %% axes_rows
# Weighs the rows, where sizes allow it.
# expect:
#   questions:
#     named_axes: {status: failed, checks: {values: raised}}

def named_axes(images, weights):
    return torch.einsum("...chw,h->...cw", images, weights)
