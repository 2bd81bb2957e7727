# detach() is a view as well.
# expect:
#   questions:
#     save_tensors: {status: partial, checks: {values: ok, dtype: ok, no_more_than_shown: wrong_value}}

import torch


def save_tensors(tensors, path):
    torch.save({name: tensor.detach() for name, tensor in tensors.items()}, path)
