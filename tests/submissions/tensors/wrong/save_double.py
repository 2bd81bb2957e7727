# Saves everything as float64.
# expect:
#   questions:
#     save_tensors: {status: partial, checks: {values: ok, dtype: wrong_dtype, no_more_than_shown: wrong_value}}

import torch


def save_tensors(tensors, path):
    torch.save({name: tensor.double() for name, tensor in tensors.items()}, path)
