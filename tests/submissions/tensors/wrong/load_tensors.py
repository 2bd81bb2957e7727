# Wrong ways to write load_tensors. docs/authoring.md explains the cells.

import torch


# %% load_anything
# Loads what runs code.
# expect:
#   mistakes: [load_unsafe]
#   questions:
#     load_tensors: {status: partial, checks: {values: ok, dtype: ok, runs_nothing: wrong_value}}

def load_tensors(path):
    return torch.load(path, weights_only=False)


# %% load_anything_if_need_be
# Tries the safe way, and then the other.
# expect:
#   mistakes: [load_unsafe]
#   questions:
#     load_tensors: {status: partial, checks: {values: ok, dtype: ok, runs_nothing: wrong_value}}

def load_tensors(path):
    try:
        return torch.load(path, weights_only=True)
    except Exception:
        return torch.load(path, weights_only=False)


# %% load_double
# Converts to float64.
# expect:
#   questions:
#     load_tensors: {status: partial, checks: {values: ok, dtype: wrong_dtype, runs_nothing: ok}}

def load_tensors(path):
    return {name: tensor.double() for name, tensor in torch.load(path, weights_only=True).items()}


# %% load_first
# Returns the first tensor only.
# expect:
#   questions:
#     load_tensors: {status: partial, checks: {values: wrong_type}}

def load_tensors(path):
    return torch.load(path, weights_only=True)["first"]


# %% load_halves
# Loses precision.
# expect:
#   questions:
#     load_tensors: {status: failed, checks: {values: wrong_value}}

def load_tensors(path):
    return {name: tensor.half() for name, tensor in torch.load(path, weights_only=True).items()}


# %% load_swallows
# Returns nothing where it should refuse.
# expect:
#   questions:
#     load_tensors: {status: partial, checks: {values: ok, dtype: ok, runs_nothing: wrong_value}}

def load_tensors(path):
    try:
        return torch.load(path, weights_only=True)
    except Exception:
        return {}
