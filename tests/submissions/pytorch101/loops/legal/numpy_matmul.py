# numpy's own batched product: no log shows what it does, so a person looks.
# expect: needs_review

import numpy as np
import torch


def batched_matrix_multiply_noloop(x, y):
    return torch.from_numpy(np.matmul(x.numpy(), y.numpy()))
