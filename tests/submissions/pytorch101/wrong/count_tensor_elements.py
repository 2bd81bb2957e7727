# Wrong ways to write count_tensor_elements. docs/authoring.md explains the cells.

import torch


# %% count_adds_sizes
# Adds the sizes up instead of multiplying them.
# expect:
#   questions:
#     count_tensor_elements: {status: partial, points: 0.9, checks: {count: wrong_value}}

def count_tensor_elements(x):
    return sum(x.shape)


# %% count_float
# The right number as a float.
# expect:
#   questions:
#     count_tensor_elements: {status: partial, checks: {count: ok, type: wrong_type}}

def count_tensor_elements(x):
    return torch.ones(x.shape).sum().item()


# %% count_matrices_only
# Multiplies the first and the last size: right for rank 2 alone.
# expect:
#   questions:
#     count_tensor_elements: {status: partial, checks: {count: wrong_value}}

def count_tensor_elements(x):
    return x.shape[0] * x.shape[-1]


# %% count_nelement
# numel by its other name.
# expect:
#   questions:
#     count_tensor_elements: {status: partial, checks: {count: ok, no_numel: forbidden_call}}

def count_tensor_elements(x):
    return x.nelement()


# %% count_numel
# Asks torch.numel, which is not allowed.
# expect:
#   questions:
#     count_tensor_elements: {status: partial, checks: {count: ok, no_numel: forbidden_call}}

def count_tensor_elements(x):
    return torch.numel(x)


# %% count_numel_method
# Asks x.numel(), which is not allowed.
# expect:
#   questions:
#     count_tensor_elements: {status: partial, checks: {count: ok, no_numel: forbidden_call}}

def count_tensor_elements(x):
    n = x.numel()
    return n


# %% count_numel_of_the_shape
# Asks the shape for what x must not be asked.
# expect:
#   questions:
#     count_tensor_elements: {status: partial, checks: {count: ok, type: ok, unmodified: ok, no_numel: forbidden_call}}

def count_tensor_elements(x):
    return x.shape.numel()


# %% count_numel_of_the_size
# The same by size().
# expect:
#   questions:
#     count_tensor_elements: {status: partial, checks: {count: ok, type: ok, unmodified: ok, no_numel: forbidden_call}}

def count_tensor_elements(x):
    size = x.size()
    return size.numel()


# %% count_numpy_size
# Asks an array for its size.
# expect:
#   questions:
#     count_tensor_elements: {status: partial, checks: {count: ok, type: ok, unmodified: ok, no_numel: forbidden_call}}

def count_tensor_elements(x):
    return int(x.numpy().size)


# %% count_numpy_size_function
# Asks NumPy's function.
# expect:
#   questions:
#     count_tensor_elements: {status: partial, checks: {count: ok, type: ok, unmodified: ok, no_numel: forbidden_call}}

import numpy as np


def count_tensor_elements(x):
    return int(np.size(x.numpy()))


# %% count_overwrites
# Fills the caller's tensor with ones to count them.
# expect:
#   questions:
#     count_tensor_elements: {status: partial, checks: {count: ok, unmodified: input_modified}}

def count_tensor_elements(x):
    return int(x.fill_(1).sum().item())


# %% count_tensor
# A tensor of rank 0 instead of an int: that costs the type's points alone.
# expect:
#   questions:
#     count_tensor_elements: {status: partial, checks: {count: ok, type: wrong_type, unmodified: ok, no_numel: ok}}

def count_tensor_elements(x):
    return torch.prod(torch.tensor(x.shape))


# %% count_two_sizes
# Unpacks two sizes, which other ranks do not have.
# expect:
#   questions:
#     count_tensor_elements: {status: failed, code: raised}

def count_tensor_elements(x):
    rows, columns = x.shape
    return rows * columns


# %% count_numpy_number
# A number of NumPy's instead of an int: that costs the type's points alone.
# expect:
#   questions:
#     count_tensor_elements: {status: partial, checks: {count: ok, type: wrong_type, unmodified: ok, no_numel: ok}}

import numpy as np


def count_tensor_elements(x):
    return np.prod(x.shape)
