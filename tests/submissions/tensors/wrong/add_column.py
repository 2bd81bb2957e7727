# Wrong ways to write add_column. docs/authoring.md explains the cells.

import torch


# %% column_as_row
# Lets the vector line up with the columns' size: an error, or a row where the matrix is square.
# expect:
#   questions:
#     add_column: {status: partial, checks: {values: raised}}

def add_column(x, w):
    return x + w


# %% column_as_row_if_square
# Turns the matrix round only where sizes do not fit.
# expect:
#   questions:
#     add_column: {status: partial, checks: {values: wrong_value}}

def add_column(x, w):
    if x.shape[1] == w.shape[0]:
        return x + w
    return (x.t() + w).t()


# %% column_in_place
# Adds into the input.
# expect:
#   questions:
#     add_column: {status: partial, checks: {values: ok, unmodified: input_modified, no_loops: ok}}

def add_column(x, w):
    return x.add_(w[:, None])


# %% column_loop
# Row by row.
# expect:
#   questions:
#     add_column: {status: partial, checks: {values: ok, unmodified: ok, no_loops: loop_found}}

def add_column(x, w):
    y = torch.empty_like(x)
    for i in range(len(w)):
        y[i] = x[i] + w[i]
    return y
