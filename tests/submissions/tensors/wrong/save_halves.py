# Saves everything in half precision.
# expect:
#   questions:
#     save_tensors: {status: failed, checks: {values: wrong_value}}

import torch


def save_tensors(tensors, path):
    torch.save({name: tensor.half() for name, tensor in tensors.items()}, path)
