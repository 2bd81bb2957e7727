# Wrong ways to write numpy_bridge. docs/authoring.md explains the cells.

import torch


# %% bridge_as_type
# astype with copy=False copies nothing where the array is float32 already.
# expect:
#   mistakes: [bridge_float32_shares]
#   questions:
#     numpy_bridge: {status: partial, checks: {values: ok, dtypes: ok, shared: ok, own: wrong_value}}

def numpy_bridge(a):
    return {"shared": torch.from_numpy(a), "own": torch.from_numpy(a.astype("f4", copy=False))}


# %% bridge_float32_shares
# Converts without a copy where the array is float32 already.
# expect:
#   questions:
#     numpy_bridge: {status: partial, checks: {values: ok, dtypes: ok, shared: ok, own: wrong_value}}

def numpy_bridge(a):
    return {"shared": torch.from_numpy(a), "own": torch.from_numpy(a).float()}


# %% bridge_keeps_float64
# A copy that stays float64.
# expect:
#   questions:
#     numpy_bridge: {status: partial, checks: {values: ok, dtypes: wrong_dtype, shared: ok, own: ok}}

def numpy_bridge(a):
    return {"shared": torch.from_numpy(a), "own": torch.tensor(a)}


# %% bridge_one
# One tensor in place of two.
# expect:
#   questions:
#     numpy_bridge: {status: failed, checks: {values: raised}}

def numpy_bridge(a):
    return torch.from_numpy(a)


# %% bridge_rounds
# By way of half precision.
# expect:
#   questions:
#     numpy_bridge: {status: failed, checks: {values: wrong_value}}

def numpy_bridge(a):
    return {"shared": torch.from_numpy(a), "own": torch.tensor(a).half().float() + 0.001}


# %% bridge_shared_float32
# Both converted, and so both copies.
# expect:
#   questions:
#     numpy_bridge: {status: partial, checks: {values: ok, dtypes: wrong_dtype, shared: wrong_value, own: ok}}

def numpy_bridge(a):
    return {"shared": torch.from_numpy(a).float(), "own": torch.tensor(a, dtype=torch.float32)}


# %% bridge_two_copies
# torch.tensor copies both.
# expect:
#   questions:
#     numpy_bridge: {status: partial, checks: {values: ok, dtypes: ok, shared: wrong_value, own: ok}}

def numpy_bridge(a):
    return {"shared": torch.tensor(a), "own": torch.tensor(a, dtype=torch.float32)}
