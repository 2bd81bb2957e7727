# Wrong ways to write make_contiguous. docs/authoring.md explains the cells.

import torch


# %% contiguous_always_copies
# Copies also where nothing needs to be copied.
# expect:
#   questions:
#     make_contiguous: {status: partial, checks: {values: ok, contiguous: ok, no_needless_copy: not_a_view}}

def make_contiguous(x):
    return x.contiguous().clone()


# %% contiguous_as_it_is
# Returns the input.
# expect:
#   questions:
#     make_contiguous: {status: partial, checks: {values: ok, contiguous: wrong_value, no_needless_copy: requirement_not_met}}

def make_contiguous(x):
    return x


# %% contiguous_clone
# clone() keeps the order of the strides.
# expect:
#   questions:
#     make_contiguous: {status: partial, checks: {values: ok, contiguous: wrong_value, no_needless_copy: requirement_not_met}}

def make_contiguous(x):
    return x.clone()


# %% contiguous_view
# Asks for a view of the same shape, which is the same layout.
# expect:
#   questions:
#     make_contiguous: {status: partial, checks: {values: ok, contiguous: wrong_value}}

def make_contiguous(x):
    return x.view(x.shape)


# %% contiguous_wrong_order
# Reads the memory in its own order.
# expect:
#   questions:
#     make_contiguous: {status: partial, checks: {values: wrong_value}}

def make_contiguous(x):
    return x.t().contiguous().view(x.shape) if x.dim() == 2 else x.contiguous()
