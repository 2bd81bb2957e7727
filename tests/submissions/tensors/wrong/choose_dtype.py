# Wrong ways to write choose_dtype. docs/authoring.md explains the cells.

import torch


# %% dtype_always_float32
# Takes float32 where anything is floating.
# expect:
#   questions:
#     choose_dtype: {status: partial, checks: {tensors: wrong_value}}

def choose_dtype(x, y):
    dtype = (x + y).dtype
    return torch.float32 if dtype.is_floating_point else dtype


# %% dtype_in_words
# The name of the dtype.
# expect:
#   questions:
#     choose_dtype: {status: partial, checks: {tensors: wrong_type}}

def choose_dtype(x, y):
    return str((x + y).dtype)


# %% dtype_larger
# Takes the dtype with more bytes.
# expect:
#   questions:
#     choose_dtype: {status: failed, checks: {tensors: wrong_value, numbers: requirement_not_met}}

def choose_dtype(x, y):
    if not isinstance(y, torch.Tensor):
        return x.dtype if x.is_floating_point() else torch.float32
    return x.dtype if x.element_size() >= y.element_size() else y.dtype


# %% dtype_of_the_first
# Takes the first.
# expect:
#   questions:
#     choose_dtype: {status: partial, code: wrong_value}

def choose_dtype(x, y):
    return x.dtype


# %% dtype_promotes_numbers
# Takes Python numbers and tensors of rank 0 for as good as any tensor.
# expect:
#   questions:
#     choose_dtype: {status: partial, checks: {tensors: ok, numbers: wrong_value}}

def choose_dtype(x, y):
    return torch.promote_types(x.dtype, torch.as_tensor(y).dtype)
