# Wrong ways to write as_numpy. docs/authoring.md explains the cells.

import torch


# %% array_copies
# A copy.
# expect:
#   questions:
#     as_numpy: {status: partial, checks: {values: ok, an_array: ok, shared: wrong_value, gradients: wrong_value}}

def as_numpy(x):
    return x.detach().numpy().copy()


# %% array_copies_with_gradients
# Copies where gradients are required.
# expect:
#   questions:
#     as_numpy: {status: partial, checks: {values: ok, an_array: ok, shared: ok, gradients: wrong_value}}

def as_numpy(x):
    return x.detach().clone().numpy() if x.requires_grad else x.numpy()


# %% array_flat
# Flattens.
# expect:
#   questions:
#     as_numpy: {status: partial, checks: {values: wrong_shape}}

def as_numpy(x):
    return x.detach().numpy().ravel()


# %% array_from_list
# By way of a list.
# expect:
#   questions:
#     as_numpy: {status: partial, checks: {values: ok, an_array: ok, shared: wrong_value, gradients: wrong_value}}

import numpy as np


def as_numpy(x):
    return np.array(x.tolist())


# %% array_is_a_tensor
# Returns the tensor.
# expect:
#   questions:
#     as_numpy: {status: partial, checks: {values: ok, an_array: wrong_type, shared: ok, gradients: ok}}

def as_numpy(x):
    return x.detach()


# %% array_requires_no_gradients
# Forgets detach().
# expect:
#   questions:
#     as_numpy: {status: partial, checks: {values: ok, an_array: ok, shared: ok, gradients: raised}}

def as_numpy(x):
    return x.numpy()
