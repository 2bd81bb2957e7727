# Wrong ways to write flatten_views. docs/authoring.md explains the cells.

import torch


# %% flatten_always_raises
# Refuses every tensor that is no matrix.
# expect:
#   questions:
#     flatten_views: {status: partial, checks: {values: raised}}

def flatten_views(x):
    if x.dim() != 2 or not x.is_contiguous():
        raise RuntimeError("no view")
    return x.view(-1), x.view(-1, 8)


# %% flatten_clone
# Views of a copy.
# expect:
#   questions:
#     flatten_views: {status: partial, checks: {values: ok, views: not_a_view, never_copies: requirement_not_met}}

def flatten_views(x):
    x = x.clone()
    return x.view(-1), x.view(-1, 8)


# %% flatten_contiguous_first
# Makes the tensor contiguous before the view, which is a copy where none was contiguous.
# expect:
#   questions:
#     flatten_views: {status: partial, checks: {values: ok, views: ok, never_copies: wrong_value}}

def flatten_views(x):
    x = x.contiguous()
    return x.view(-1), x.view(-1, 8)


# %% flatten_one_copy
# The second is a copy.
# expect:
#   questions:
#     flatten_views: {status: partial, checks: {values: ok, views: not_a_view, never_copies: requirement_not_met}}

def flatten_views(x):
    return x.view(-1), torch.stack(x.view(-1, 8).unbind())


# %% flatten_reshape
# reshape where a view is asked for: it copies without a word where no view exists.
# expect:
#   questions:
#     flatten_views: {status: partial, checks: {values: ok, views: ok, never_copies: wrong_value}}

def flatten_views(x):
    return x.reshape(-1), x.reshape(-1, 8)


# %% flatten_two_columns
# Eight rows in place of eight columns.
# expect:
#   questions:
#     flatten_views: {status: partial, checks: {values: wrong_shape}}

def flatten_views(x):
    return x.view(-1), x.view(8, -1)
