# Takes Python numbers and tensors of rank 0 for as good as any tensor.
# expect:
#   questions:
#     choose_dtype: {status: partial, checks: {tensors: ok, numbers: wrong_value}}

import torch


def choose_dtype(x, y):
    return torch.promote_types(x.dtype, torch.as_tensor(y).dtype)
