# Wrong ways to write create_sample_tensor. docs/authoring.md explains the cells.

import torch


# %% sample_list
# Nested lists that were never made a tensor.
# expect:
#   questions:
#     create_sample_tensor: {status: failed, checks: {values: wrong_type}}

def create_sample_tensor():
    return [[0, 10], [100, 0], [0, 0]]


# %% sample_lying
# Two rows of three instead of three rows of two.
# expect:
#   questions:
#     create_sample_tensor: {status: failed, checks: {values: wrong_shape}}

def create_sample_tensor():
    return torch.tensor([[0, 10, 0], [100, 0, 0]])


# %% sample_swapped
# The two numbers are in each other's places.
# expect:
#   questions:
#     create_sample_tensor: {status: partial, checks: {values: wrong_value}}

def create_sample_tensor():
    x = torch.zeros(3, 2)
    x[1, 0] = 10
    x[0, 1] = 100
    return x
