# Loads what runs code.
# expect:
#   questions:
#     load_tensors: {status: partial, checks: {values: ok, dtype: ok, runs_nothing: wrong_value}}

import torch


def load_tensors(path):
    return torch.load(path, weights_only=False)
