# numpy's own batched product.
# expect: ok

import numpy as np
import torch


def batched_matrix_multiply_noloop(x, y):
    return torch.from_numpy(np.matmul(x.numpy(), y.numpy()))
