# np.vectorize calls back for each index.
# expect: loop_found

import numpy as np
import torch


def batched_matrix_multiply_noloop(x, y):
    z = x.new_zeros(x.shape[0], x.shape[1], y.shape[2])

    def multiply(i):
        z[i] = x[i] @ y[i]
        return 0

    np.vectorize(multiply)(np.arange(len(x)))
    return z
