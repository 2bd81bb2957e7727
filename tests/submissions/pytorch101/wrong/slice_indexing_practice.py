# Wrong ways to write slice_indexing_practice. docs/authoring.md explains the cells.

import torch


# %% slices_column_flat
# A number where a slice was needed: the third column comes with shape (M,).
# expect:
#   questions:
#     slice_indexing_practice: {status: partial, points: 3, checks: {values: wrong_shape}}

def slice_indexing_practice(x):
    return x[-1], x[:, 2], x[:2, :3], x[::2, 1::2]


# %% slices_copies
# Right values, but copies instead of views.
# expect:
#   questions:
#     slice_indexing_practice: {status: partial, checks: {values: ok, views: not_a_view}}

def slice_indexing_practice(x):
    return x[-1].clone(), x[:, 2:3].clone(), x[:2, :3].clone(), x[::2, 1::2].clone()


# %% slices_modifies
# Writes into x, at a place that none of the four parts shows.
# expect:
#   questions:
#     slice_indexing_practice: {status: partial, checks: {values: ok, views: ok, unmodified: input_modified}}

def slice_indexing_practice(x):
    parts = x[-1], x[:, 2:3], x[:2, :3], x[::2, 1::2]
    x[1, 3] = 1234
    return parts


# %% slices_odd_and_even
# Odd rows and even columns.
# expect:
#   questions:
#     slice_indexing_practice: {status: partial, code: wrong_shape, points: 3}

def slice_indexing_practice(x):
    return x[-1], x[:, 2:3], x[:2, :3], x[1::2, ::2]


# %% slices_one_after_the_other
# Rows first, then columns.
# expect:
#   questions:
#     slice_indexing_practice: {status: partial, checks: {values: ok, views: ok, one_index_each: too_many_calls}}

def slice_indexing_practice(x):
    last_row = x[x.shape[0] - 1]
    third_col = x[:, 2:3]
    corner = x[0:2][:, 0:3]
    even_odd = x[::2][:, 1::2]
    return last_row, third_col, corner, even_odd


# %% slices_one_copy
# Index lists copy: the third column has memory of its own.
# expect:
#   questions:
#     slice_indexing_practice: {status: partial, checks: {values: ok, views: not_a_view}}

def slice_indexing_practice(x):
    return x[-1], x[:, [2]], x[:2, :3], x[::2, 1::2]


# %% slices_row_kept
# A slice where a number was needed: the last row comes with shape (1, N).
# expect:
#   mistakes: [slices_last_row_kept]
#   questions:
#     slice_indexing_practice: {status: partial, checks: {values: wrong_shape}}

def slice_indexing_practice(x):
    return x[-1:, :], x[:, 2:3], x[:2, :3], x[::2, 1::2]


# %% slices_third_row
# The last row is the third in the example, and only there.
# expect:
#   questions:
#     slice_indexing_practice: {status: partial, points: 3, checks: {values: wrong_value}}

def slice_indexing_practice(x):
    return x[2], x[:, 2:3], x[:2, :3], x[::2, 1::2]


# %% slices_three_parts
# One of the four parts is missing.
# expect:
#   questions:
#     slice_indexing_practice: {status: failed, checks: {values: wrong_type}}

def slice_indexing_practice(x):
    return x[-1], x[:, 2:3], x[:2, :3]


# %% slices_two_brackets
# A second pair of brackets mends the shape of the third column.
# expect:
#   questions:
#     slice_indexing_practice: {status: partial, checks: {values: ok, views: ok, one_index_each: too_many_calls}}

def slice_indexing_practice(x):
    return x[-1], x[:, 2][:, None], x[:2, :3], x[::2, 1::2]


# %% slices_narrowed
# Views by narrow, select and as_strided: no pair of brackets.
# expect:
#   questions:
#     slice_indexing_practice: {status: partial, checks: {values: ok, views: ok, one_index_each: too_few_calls}}

def slice_indexing_practice(x):
    M, N = x.shape
    corner = x.narrow(0, 0, 2).narrow(1, 0, 3)
    even_odd = x.as_strided(((M + 1) // 2, N // 2), (2 * x.stride(0), 2 * x.stride(1)), x.stride(1))
    return x.select(0, M - 1), x.narrow(1, 2, 1), corner, even_odd
