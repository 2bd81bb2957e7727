# Wrong ways to write outer_product. docs/authoring.md explains the cells.

import torch


# %% outer_elementwise
# Column times column: rows and columns are swapped.
# expect:
#   questions:
#     outer_product: {status: failed, checks: {values: wrong_shape}}

def outer_product(v, w):
    return v * w.view(-1, 1)


# %% outer_loop
# Row by row.
# expect:
#   questions:
#     outer_product: {status: partial, checks: {values: ok, no_loops: loop_found, broadcasts: ok}}

def outer_product(v, w):
    return torch.stack([number * w for number in v])


# %% outer_matmul
# A product of two matrices.
# expect:
#   questions:
#     outer_product: {status: partial, checks: {values: ok, no_loops: ok, broadcasts: forbidden_call}}

def outer_product(v, w):
    return v.view(-1, 1) @ w.view(1, -1)


# %% outer_torch
# Calls torch.outer.
# expect:
#   questions:
#     outer_product: {status: partial, checks: {values: ok, no_loops: ok, broadcasts: forbidden_call}}

def outer_product(v, w):
    return torch.outer(v, w)
