# A plain for statement.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    z = x.new_zeros(x.shape[0], x.shape[1], y.shape[2])
    for i in range(x.shape[0]):
        z[i] = x[i] @ y[i]
    return z
