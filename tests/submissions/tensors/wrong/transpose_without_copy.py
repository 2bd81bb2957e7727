# Wrong ways to write transpose_without_copy. docs/authoring.md explains the cells.

import torch


# %% transpose_all
# Turns all dimensions round.
# expect:
#   questions:
#     transpose_without_copy: {status: partial, checks: {values: wrong_shape}}

def transpose_without_copy(x):
    return x.permute(*range(x.dim() - 1, -1, -1))


# %% transpose_by_view
# view with the sizes swapped: another order of the numbers.
# expect:
#   questions:
#     transpose_without_copy: {status: partial, checks: {values: wrong_value}}

def transpose_without_copy(x):
    return x.reshape(*x.shape[:-2], x.shape[-1], x.shape[-2])


# %% transpose_clone
# A copy of the transpose.
# expect:
#   questions:
#     transpose_without_copy: {status: partial, checks: {values: ok, view: not_a_view, unmodified: ok}}

def transpose_without_copy(x):
    return x.transpose(-1, -2).clone()


# %% transpose_contiguous
# A contiguous copy of the transpose.
# expect:
#   questions:
#     transpose_without_copy: {status: partial, checks: {values: ok, view: not_a_view, unmodified: ok}}

def transpose_without_copy(x):
    return x.transpose(-2, -1).contiguous()


# %% transpose_t
# t() knows matrices only.
# expect:
#   questions:
#     transpose_without_copy: {status: partial, checks: {values: raised}}

def transpose_without_copy(x):
    return x.t()


# %% transpose_writes
# Writes the transpose into the input's memory.
# expect:
#   questions:
#     transpose_without_copy: {status: partial, checks: {values: ok, view: ok, unmodified: input_modified}}

def transpose_without_copy(x):
    turned = x.transpose(-2, -1).contiguous()
    if not x.is_contiguous():
        return x.transpose(-2, -1)
    return x.view(turned.shape).copy_(turned)
