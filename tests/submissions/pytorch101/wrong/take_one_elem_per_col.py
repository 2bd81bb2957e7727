# Wrong ways to write take_one_elem_per_col. docs/authoring.md explains the cells.

import torch


# %% take_all_columns
# One entry of every column: fine while there are three.
# expect:
#   questions:
#     take_one_elem_per_col: {status: partial, code: raised}

def take_one_elem_per_col(x):
    return x[[1, 0, 3], list(range(x.shape[1]))]


# %% take_block
# Two indices one after the other pick a block of nine.
# expect:
#   questions:
#     take_one_elem_per_col: {status: partial, points: 0.6, checks: {values: wrong_shape}}

def take_one_elem_per_col(x):
    return x[[1, 0, 3]][:, [0, 1, 2]]


# %% take_block_by_one_index
# One index with a column of rows picks the same block.
# expect:
#   mistakes: [take_block]
#   questions:
#     take_one_elem_per_col: {status: partial, says: "Nine numbers came back, of each row in each column"}

def take_one_elem_per_col(x):
    return x[[[1], [0], [3]], [0, 1, 2]]


# %% take_first_rows
# Rows 0, 1 and 2.
# expect:
#   questions:
#     take_one_elem_per_col: {status: partial, points: 1, checks: {values: wrong_value}}

def take_one_elem_per_col(x):
    return x[[0, 1, 2], [0, 1, 2]]


# %% take_floats
# Collects the entries as Python floats.
# expect:
#   questions:
#     take_one_elem_per_col: {status: partial, checks: {dtype: wrong_dtype}}

def take_one_elem_per_col(x):
    rows, columns = [1, 0, 3], [0, 1, 2]
    return torch.tensor([float(number) for number in x[rows, columns]], dtype=torch.float64)


# %% take_one_by_one
# One index for each entry.
# expect:
#   questions:
#     take_one_elem_per_col: {status: partial, checks: {values: ok, one_index: too_many_calls}}

def take_one_elem_per_col(x):
    return torch.stack([x[1, 0], x[0, 1], x[3, 2]])


# %% take_overwrites
# Changes the sign of the caller's numbers.
# expect:
#   questions:
#     take_one_elem_per_col: {status: partial, checks: {values: ok, unmodified: input_modified}}

def take_one_elem_per_col(x):
    y = x[[1, 0, 3], [0, 1, 2]]
    x.neg_()
    return y


# %% take_rows_for_columns
# Rows and columns change places; x need not have four columns.
# expect:
#   questions:
#     take_one_elem_per_col: {status: partial, code: raised}

def take_one_elem_per_col(x):
    return x[[0, 1, 2], [1, 0, 3]]

# %% take_float32_buffer
# A buffer of torch.zeros, which is float32 whatever comes: that costs the dtype's points alone.
# expect:
#   questions:
#     take_one_elem_per_col: {status: partial, checks: {values: ok, dtype: wrong_dtype, unmodified: ok, one_index: ok}}

def take_one_elem_per_col(x):
    result = torch.zeros(3)
    result.copy_(x[[1, 0, 3], [0, 1, 2]])
    return result


# %% take_from_lists
# Python's lists in place of an index of the tensor.
# expect:
#   questions:
#     take_one_elem_per_col: {status: partial, checks: {values: ok, dtype: ok, one_index: too_few_calls}}

def take_one_elem_per_col(x):
    rows = x.tolist()
    return torch.tensor([rows[1][0], rows[0][1], rows[3][2]], dtype=x.dtype)
