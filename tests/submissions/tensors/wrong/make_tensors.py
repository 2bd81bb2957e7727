# Wrong ways to write make_tensors. docs/authoring.md explains the cells.

import torch


# %% make_data_in_double
# The data in float64.
# expect:
#   questions:
#     make_tensors: {status: partial, checks: {values: ok, shapes: ok, dtypes: wrong_dtype, random: ok}}

def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(M, N),
        "uniform": torch.rand(M, N),
        "zeros": torch.zeros(M, N, dtype=torch.int64),
        "data": torch.tensor(data, dtype=torch.float64),
        "ones": like.new_ones(M, N),
        "normal": torch.randn_like(like, dtype=torch.float32),
    }


# %% make_empty_square
# The uninitialised matrix has rows and columns swapped.
# expect:
#   questions:
#     make_tensors: {status: partial, checks: {values: ok, shapes: wrong_shape, dtypes: ok, random: ok}}

def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(N, M),
        "uniform": torch.rand(M, N),
        "zeros": torch.zeros(M, N, dtype=torch.int64),
        "data": torch.tensor(data),
        "ones": like.new_ones(M, N),
        "normal": torch.randn_like(like, dtype=torch.float32),
    }


# %% make_list
# A list in place of the dict.
# expect:
#   questions:
#     make_tensors: {status: failed, checks: {values: raised}}

def make_tensors(M, N, data, like):
    return [torch.empty(M, N), torch.rand(M, N), torch.zeros(M, N, dtype=torch.int64)]


# %% make_normal_for_uniform
# Normal numbers where uniform ones are asked for.
# expect:
#   questions:
#     make_tensors: {status: partial, checks: {values: ok, shapes: ok, dtypes: ok, random: wrong_value}}

def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(M, N),
        "uniform": torch.randn(M, N),
        "zeros": torch.zeros(M, N, dtype=torch.int64),
        "data": torch.tensor(data),
        "ones": like.new_ones(M, N),
        "normal": torch.randn_like(like, dtype=torch.float32),
    }


# %% make_normal_in_double
# Normal numbers in the dtype of the given tensor: float64 kept, and an error for whole numbers.
# expect:
#   questions:
#     make_tensors: {status: failed, code: raised}

def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(M, N),
        "uniform": torch.rand(M, N),
        "zeros": torch.zeros(M, N, dtype=torch.int64),
        "data": torch.tensor(data),
        "ones": like.new_ones(M, N),
        "normal": torch.randn_like(like),
    }


# %% make_ones_of_floats
# Ones that do not take the dtype of the given tensor.
# expect:
#   questions:
#     make_tensors: {status: partial, checks: {values: ok, shapes: ok, dtypes: wrong_dtype, random: ok}}

def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(M, N),
        "uniform": torch.rand(M, N),
        "zeros": torch.zeros(M, N, dtype=torch.int64),
        "data": torch.tensor(data),
        "ones": torch.ones(M, N),
        "normal": torch.randn_like(like, dtype=torch.float32),
    }


# %% make_ones_of_the_shape
# Ones in the shape of the given tensor.
# expect:
#   questions:
#     make_tensors: {status: failed, checks: {values: wrong_shape, shapes: requirement_not_met, dtypes: requirement_not_met, random: requirement_not_met}}

def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(M, N),
        "uniform": torch.rand(M, N),
        "zeros": torch.zeros(M, N, dtype=torch.int64),
        "data": torch.tensor(data),
        "ones": torch.ones_like(like),
        "normal": torch.randn_like(like, dtype=torch.float32),
    }


# %% make_uniform_for_normal
# Uniform numbers where normal ones are asked for.
# expect:
#   questions:
#     make_tensors: {status: partial, checks: {values: ok, shapes: ok, dtypes: ok, random: wrong_value}}

def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(M, N),
        "uniform": torch.rand(M, N),
        "zeros": torch.zeros(M, N, dtype=torch.int64),
        "data": torch.tensor(data),
        "ones": like.new_ones(M, N),
        "normal": torch.rand_like(like, dtype=torch.float32),
    }


# %% make_zeros_of_floats
# Zeros in float32, where int64 is asked for.
# expect:
#   questions:
#     make_tensors: {status: partial, checks: {values: ok, shapes: ok, dtypes: wrong_dtype, random: ok}}

def make_tensors(M, N, data, like):
    return {
        "empty": torch.empty(M, N),
        "uniform": torch.rand(M, N),
        "zeros": torch.zeros(M, N),
        "data": torch.tensor(data),
        "ones": like.new_ones(M, N),
        "normal": torch.randn_like(like, dtype=torch.float32),
    }
