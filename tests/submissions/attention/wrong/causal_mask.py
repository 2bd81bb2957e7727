# Wrong ways to write causal_mask. docs/authoring.md explains the cells.

import torch


# %% mask_looks_ahead
# The upper triangle.
# expect:
#   questions:
#     causal_mask: {status: partial, points: 1, checks: {values: wrong_value}}

def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).triu()


# %% mask_without_itself
# A place does not look at itself.
# expect:
#   questions:
#     causal_mask: {status: partial, points: 1.2, checks: {values: wrong_value}}

def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril(-1)


# %% mask_of_numbers
# Zeros and ones, no booleans.
# expect:
#   questions:
#     causal_mask: {status: partial, checks: {values: ok, dtype: wrong_dtype}}

def causal_mask(length):
    return torch.ones(length, length).tril()
