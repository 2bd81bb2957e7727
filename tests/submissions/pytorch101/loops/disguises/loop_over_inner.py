# A loop over the inner dimension, not over the batch.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    z = 0
    for k in range(x.shape[2]):
        z = z + x[:, :, k : k + 1] * y[:, k : k + 1, :]
    return z
