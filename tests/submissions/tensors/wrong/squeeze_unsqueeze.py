# Wrong ways to write squeeze_unsqueeze. docs/authoring.md explains the cells.

import torch


# %% squeeze_copies
# Builds new tensors.
# expect:
#   questions:
#     squeeze_unsqueeze: {status: partial, checks: {values: ok, sizes_of_one: ok, views: not_a_view}}

def squeeze_unsqueeze(x):
    return {"all": x.squeeze().clone(), "middle": x.squeeze(1), "first": x.unsqueeze(0), "last": x.unsqueeze(-1)}


# %% squeeze_drops_all
# Drops every size of 1 where only the middle one is meant.
# expect:
#   questions:
#     squeeze_unsqueeze: {status: partial, checks: {values: ok, sizes_of_one: wrong_shape, views: ok}}

def squeeze_unsqueeze(x):
    return {"all": x.squeeze(), "middle": x.squeeze(), "first": x.unsqueeze(0), "last": x.unsqueeze(-1)}


# %% squeeze_first_second
# Puts the new dimension second.
# expect:
#   questions:
#     squeeze_unsqueeze: {status: partial, checks: {values: wrong_shape}}

def squeeze_unsqueeze(x):
    return {"all": x.squeeze(), "middle": x.squeeze(1), "first": x.unsqueeze(1), "last": x.unsqueeze(-1)}


# %% squeeze_last_before_end
# Puts the new dimension before the last one.
# expect:
#   questions:
#     squeeze_unsqueeze: {status: partial, checks: {values: wrong_shape}}

def squeeze_unsqueeze(x):
    return {"all": x.squeeze(), "middle": x.squeeze(1), "first": x.unsqueeze(0), "last": x.unsqueeze(2)}


# %% squeeze_middle_only
# Drops the middle one where all are meant.
# expect:
#   questions:
#     squeeze_unsqueeze: {status: partial, checks: {values: ok, sizes_of_one: wrong_shape, views: ok}}

def squeeze_unsqueeze(x):
    return {"all": x.squeeze(1), "middle": x.squeeze(1), "first": x.unsqueeze(0), "last": x.unsqueeze(-1)}


# %% squeeze_stacks
# Adds a dimension by stacking, which copies.
# expect:
#   questions:
#     squeeze_unsqueeze: {status: partial, checks: {values: ok, sizes_of_one: ok, views: not_a_view}}

def squeeze_unsqueeze(x):
    return {"all": x.squeeze(), "middle": x.squeeze(1), "first": torch.stack([x]), "last": x.unsqueeze(-1)}
