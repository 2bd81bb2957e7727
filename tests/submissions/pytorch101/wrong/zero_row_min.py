# Wrong ways to write zero_row_min. docs/authoring.md explains the cells.

import torch


# %% min_floats
# Multiplies by a mask of floats, which makes floats of whole numbers.
# expect:
#   questions:
#     zero_row_min: {status: partial, checks: {values: ok, dtype: wrong_dtype, unmodified: ok}}

def zero_row_min(x):
    mask = (x != x.min(dim=1, keepdim=True).values).float()
    return x * mask


# %% min_in_place
# The copy is missing.
# expect:
#   questions:
#     zero_row_min: {status: partial, checks: {values: ok, dtype: ok, unmodified: input_modified}}

def zero_row_min(x):
    y = x
    y[torch.arange(x.shape[0]), x.argmin(dim=1)] = 0
    return y


# %% min_index_by_comprehension
# A comprehension builds the row numbers.
# expect:
#   questions:
#     zero_row_min: {status: partial, checks: {values: ok, no_loops: loop_found}}

def zero_row_min(x):
    y = x.clone()
    y[[i for i in range(len(x))], x.argmin(dim=1)] = 0
    return y


# %% min_is_max
# The greatest number of each row.
# expect:
#   mistakes: [min_greatest]
#   questions:
#     zero_row_min: {status: partial, checks: {values: wrong_value}}

def zero_row_min(x):
    y = x.clone()
    y[torch.arange(x.shape[0]), x.argmax(dim=1)] = 0
    return y


# %% min_loop
# Row by row.
# expect:
#   questions:
#     zero_row_min: {status: partial, checks: {values: ok, dtype: ok, unmodified: ok, no_loops: loop_found}}

def zero_row_min(x):
    y = x.clone()
    for i in range(x.shape[0]):
        y[i, x[i].argmin()] = 0
    return y


# %% min_of_columns
# The minimum of each column.
# expect:
#   questions:
#     zero_row_min: {status: partial, points: 1.5, checks: {values: wrong_value}}

def zero_row_min(x):
    y = x.clone()
    y[x.argmin(dim=0), torch.arange(x.shape[1])] = 0
    return y


# %% min_of_everything
# One minimum for the whole matrix.
# expect:
#   questions:
#     zero_row_min: {status: partial, points: 1.2, checks: {values: wrong_value}}

def zero_row_min(x):
    y = x.clone()
    y[y == y.min()] = 0
    return y


# %% min_subtracts
# Subtracts the minimum, which makes it zero, and all else wrong.
# expect:
#   mistakes: [min_taken_off]
#   questions:
#     zero_row_min: {status: partial, checks: {values: wrong_value}}

def zero_row_min(x):
    return x - x.min(dim=1, keepdim=True).values


# %% min_wherever_it_stands
# Sets each row's minimum to zero wherever it stands, in other rows too.
# expect:
#   questions:
#     zero_row_min: {status: partial, checks: {values: wrong_value}}

def zero_row_min(x):
    # every row's minimum, wherever it stands in the matrix
    m = x.min(dim=1).values
    return torch.where(torch.isin(x, m), torch.zeros_like(x), x)


# %% min_whole_columns
# Every column that holds some row's minimum.
# expect:
#   questions:
#     zero_row_min: {status: partial, points: 2, checks: {values: wrong_value}}

def zero_row_min(x):
    y = x.clone()
    y[:, x.argmin(dim=1)] = 0
    return y
