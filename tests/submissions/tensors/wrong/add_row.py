# Wrong ways to write add_row. docs/authoring.md explains the cells.

import torch


# %% row_as_column
# Adds a column.
# expect:
#   questions:
#     add_row: {status: partial, checks: {values: raised}}

def add_row(x, v):
    return x + v.view(-1, 1)


# %% row_in_place
# Adds into the input.
# expect:
#   questions:
#     add_row: {status: partial, checks: {values: ok, unmodified: input_modified}}

def add_row(x, v):
    x += v
    return x


# %% row_of_all
# Adds to the first row only.
# expect:
#   questions:
#     add_row: {status: partial, checks: {values: wrong_value}}

def add_row(x, v):
    y = x.clone()
    y[0] += v
    return y


# %% row_loop
# Row by row.
# expect:
#   questions:
#     add_row: {status: partial, checks: {values: ok, unmodified: ok, no_loops: loop_found}}

def add_row(x, v):
    y = torch.empty_like(x)
    for row in range(x.shape[0]):
        y[row] = x[row] + v
    return y


# %% row_comprehension
# A comprehension is a loop, too.
# expect:
#   questions:
#     add_row: {status: partial, checks: {values: ok, unmodified: ok, no_loops: loop_found}}

def add_row(x, v):
    return torch.stack([row + v for row in x])
