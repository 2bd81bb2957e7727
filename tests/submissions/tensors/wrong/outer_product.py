# Wrong ways to write outer_product. docs/authoring.md explains the cells.

import torch


# %% outer_elementwise
# Column times column: rows and columns are swapped.
# expect:
#   questions:
#     outer_product: {status: partial, checks: {values: wrong_shape}}

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


# %% outer_by_batches
# Products of matrices in a batch of one, with a sum of zeros.
# expect:
#   questions:
#     outer_product: {status: partial, checks: {values: ok, broadcasts: forbidden_call}}

def outer_product(v, w):
    zeros = torch.zeros(1, len(v), len(w), dtype=v.dtype)
    return torch.baddbmm(zeros, v.view(1, -1, 1), w.view(1, 1, -1))[0]


# %% outer_by_multi_dot
# A product of several matrices, which are two.
# expect:
#   questions:
#     outer_product: {status: partial, checks: {values: ok, broadcasts: forbidden_call}}

def outer_product(v, w):
    return torch.linalg.multi_dot([v[:, None], w[None]])
