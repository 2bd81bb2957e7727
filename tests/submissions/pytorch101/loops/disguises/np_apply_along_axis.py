# np.apply_along_axis calls back for each index.
# expect: loop_found

import numpy as np
import torch


def batched_matrix_multiply_noloop(x, y):
    z = x.new_zeros(x.shape[0], x.shape[1], y.shape[2])

    def multiply(i):
        z[i[0]] = x[i[0]] @ y[i[0]]
        return 0

    np.apply_along_axis(multiply, 1, np.arange(len(x)).reshape(-1, 1))
    return z
