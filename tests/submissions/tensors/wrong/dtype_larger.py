# Takes the dtype with more bytes.
# expect:
#   questions:
#     choose_dtype: {status: failed, checks: {tensors: wrong_value, numbers: requirement_not_met}}

import torch


def choose_dtype(x, y):
    if not isinstance(y, torch.Tensor):
        return x.dtype if x.is_floating_point() else torch.float32
    return x.dtype if x.element_size() >= y.element_size() else y.dtype
