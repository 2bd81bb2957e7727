# Wrong ways to write shuffle_cols. docs/authoring.md explains the cells.

import torch


# %% shuffle_by_pieces
# One index for each column.
# expect:
#   questions:
#     shuffle_cols: {status: partial, checks: {values: ok, one_index: too_many_calls}}

def shuffle_cols(x):
    return torch.stack([x[:, 0], x[:, 0], x[:, 2], x[:, 1]], dim=1)


# %% shuffle_in_order
# Columns 0, 0, 1, 2.
# expect:
#   questions:
#     shuffle_cols: {status: partial, points: 1, checks: {values: wrong_value}}

def shuffle_cols(x):
    return x[:, [0, 0, 1, 2]]


# %% shuffle_loses_dtype
# Fills a tensor of zeros, which is float32 whatever x is.
# expect:
#   questions:
#     shuffle_cols: {status: partial, checks: {dtype: wrong_dtype, unmodified: ok}}

def shuffle_cols(x):
    y = torch.zeros(x.shape[0], 4, dtype=torch.float64)
    y[:, :] = x[:, [0, 0, 2, 1]]
    return y


# %% shuffle_overwrites
# Sets the column that was used twice to zero, in the caller's tensor.
# expect:
#   questions:
#     shuffle_cols: {status: partial, checks: {values: ok, dtype: ok, unmodified: input_modified}}

def shuffle_cols(x):
    y = x[:, [0, 0, 2, 1]]
    x[:, 0] = 0
    return y


# %% shuffle_rows
# Rows instead of columns.
# expect:
#   questions:
#     shuffle_cols: {status: partial, points: 0.8, checks: {values: wrong_shape}}

def shuffle_cols(x):
    return x[[0, 0, 2, 1]]

# %% shuffle_float32_buffer
# A buffer of torch.zeros, which is float32 whatever comes: that costs the dtype's points alone.
# expect:
#   questions:
#     shuffle_cols: {status: partial, checks: {values: ok, dtype: wrong_dtype, unmodified: ok, one_index: ok}}

def shuffle_cols(x):
    result = torch.zeros(x.shape[0], 4)
    result.copy_(x[:, [0, 0, 2, 1]])
    return result


# %% shuffle_by_matmul
# A product with a matrix of zeros and ones, in place of an index.
# expect:
#   questions:
#     shuffle_cols: {status: partial, checks: {values: ok, dtype: ok, one_index: too_few_calls}}

def shuffle_cols(x):
    places = torch.tensor([0, 0, 2, 1])
    return x @ (torch.arange(x.shape[1])[:, None] == places).to(x.dtype)


# %% shuffle_unbound
# Taken apart into columns, and stacked.
# expect:
#   questions:
#     shuffle_cols: {status: partial, checks: {values: ok, one_index: too_few_calls}}

def shuffle_cols(x):
    first, second, third, *_ = x.unbind(1)
    return torch.stack([first, first, third, second], 1)
