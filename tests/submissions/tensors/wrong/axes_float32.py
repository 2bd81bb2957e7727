# In float32 throughout.
# expect:
#   questions:
#     named_axes: {status: partial, checks: {values: ok, dtype: wrong_dtype, no_loops: ok}}

import torch


def named_axes(images, weights):
    return torch.einsum("...chw,c->...hw", images.float(), weights.float())
