# Loses precision.
# expect:
#   questions:
#     load_tensors: {status: failed, checks: {values: wrong_value}}

import torch


def load_tensors(path):
    return {name: tensor.half() for name, tensor in torch.load(path, weights_only=True).items()}
