# Wrong ways to write create_tensor_of_pi. docs/authoring.md explains the cells.

import torch


# %% pi_columns_first
# Columns and rows mixed up; a square example would not show it.
# expect:
#   questions:
#     create_tensor_of_pi: {status: partial, checks: {values: wrong_shape}}

def create_tensor_of_pi(M, N):
    return torch.full((N, M), 3.14)


# %% pi_exact
# A more exact pi than was asked for.
# expect:
#   questions:
#     create_tensor_of_pi: {status: failed, checks: {values: wrong_value}}

import math


def create_tensor_of_pi(M, N):
    return torch.full((M, N), math.pi)


# %% pi_whole
# The dtype of the ones cuts the number down to 3.
# expect:
#   questions:
#     create_tensor_of_pi: {status: failed, checks: {values: wrong_value}}

def create_tensor_of_pi(M, N):
    return torch.ones(M, N, dtype=torch.int64).fill_(int(3.14))
