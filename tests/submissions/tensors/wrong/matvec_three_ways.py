# Wrong ways to write matvec_three_ways. docs/authoring.md explains the cells.

import torch


# %% matvec_all_columns
# All three results are columns.
# expect:
#   questions:
#     matvec_three_ways: {status: partial, checks: {values: wrong_shape}}

def matvec_three_ways(x, v):
    column = x.mm(v.view(-1, 1))
    return column, column, column


# %% matvec_all_vectors
# All three results are vectors.
# expect:
#   questions:
#     matvec_three_ways: {status: partial, checks: {values: wrong_shape}}

def matvec_three_ways(x, v):
    return x.mv(v), x @ v, torch.matmul(x, v)


# %% matvec_floats
# Converts whole numbers to float32.
# expect:
#   questions:
#     matvec_three_ways: {status: partial, checks: {values: ok, dtype: wrong_dtype, no_loops: ok}}

def matvec_three_ways(x, v):
    x, v = x.float(), v.float()
    return x.mv(v), x.mm(v.view(-1, 1)), x.matmul(v)


# %% matvec_loop
# Sums row by row.
# expect:
#   questions:
#     matvec_three_ways: {status: partial, checks: {values: ok, dtype: ok, no_loops: loop_found}}

def matvec_three_ways(x, v):
    y = torch.zeros_like(x[:, 0])
    for i in range(x.shape[0]):
        y[i] = (x[i] * v).sum()
    return y, y.view(-1, 1), y
