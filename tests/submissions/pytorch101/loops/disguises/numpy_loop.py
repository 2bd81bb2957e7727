# A loop over numpy arrays.
# expect: loop_found

import numpy as np
import torch


def batched_matrix_multiply_noloop(x, y):
    z = np.empty((x.shape[0], x.shape[1], y.shape[2]), dtype=x.numpy().dtype)
    for i in np.ndindex(len(x)):
        np.matmul(x.numpy()[i], y.numpy()[i], out=z[i])
    return torch.from_numpy(z)
