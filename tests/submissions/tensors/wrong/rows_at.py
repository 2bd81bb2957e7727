# Wrong ways to write rows_at. docs/authoring.md explains the cells.

import torch


# %% rows_are_columns
# Picks columns.
# expect:
#   questions:
#     rows_at: {status: partial, checks: {rows: raised}}

def rows_at(x, index):
    return x[:, index.long()]


# %% rows_distinct
# Picks each row once.
# expect:
#   questions:
#     rows_at: {status: partial, checks: {rows: wrong_shape}}

def rows_at(x, index):
    return x[index.long().unique()]


# %% rows_floats
# Rows in float32.
# expect:
#   questions:
#     rows_at: {status: partial, checks: {rows: ok, any_dtype: ok, dtype: wrong_dtype}}

def rows_at(x, index):
    return x[index.long()].float()


# %% rows_mask
# Takes the index as it comes: uint8 is a mask, float32 an error.
# expect:
#   questions:
#     rows_at: {status: partial, checks: {rows: ok, any_dtype: raised, dtype: ok}}

def rows_at(x, index):
    return x[index]


# %% rows_uint8_is_a_mask
# Converts everything but uint8, which is a mask.
# expect:
#   questions:
#     rows_at: {status: partial, checks: {rows: ok, any_dtype: wrong_shape, dtype: ok}}

def rows_at(x, index):
    return x[index if index.dtype == torch.uint8 else index.long()]


# %% rows_at_half
# Numbers beyond 2048 are rounded in half precision.
# expect:
#   questions:
#     rows_at: {status: partial, checks: {rows: ok, any_dtype: ok, any_number: raised, dtype: ok}}

def rows_at(x, index):
    return x[index.half().long()]


# %% rows_at_int8
# No number beyond 127.
# expect:
#   mistakes: [rows_through_int8]
#   questions:
#     rows_at: {status: partial, checks: {rows: ok, any_dtype: ok, any_number: wrong_value, dtype: ok}}

def rows_at(x, index):
    return x[index.to(torch.int8).long()]


# %% rows_at_int16
# No number beyond 32,767.
# expect:
#   questions:
#     rows_at: {status: partial, checks: {rows: ok, any_dtype: ok, any_number: wrong_value, dtype: ok}}

def rows_at(x, index):
    return x[index.short().long()]
