# filter, whose test does the work.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    z = x.new_zeros(x.shape[0], x.shape[1], y.shape[2])

    def multiply(i):
        z[i] = x[i] @ y[i]
        return False

    list(filter(multiply, range(len(x))))
    return z
