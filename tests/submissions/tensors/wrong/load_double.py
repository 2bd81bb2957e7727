# Converts to float64.
# expect:
#   questions:
#     load_tensors: {status: partial, checks: {values: ok, dtype: wrong_dtype, runs_nothing: ok}}

import torch


def load_tensors(path):
    return {name: tensor.double() for name, tensor in torch.load(path, weights_only=True).items()}
