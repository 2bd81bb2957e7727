# Writes to a place of its own.
# expect:
#   questions:
#     save_tensors: {status: failed, code: missing_file}

import torch


def save_tensors(tensors, path):
    torch.save({name: tensor.clone() for name, tensor in tensors.items()}, "tensors.pt")
