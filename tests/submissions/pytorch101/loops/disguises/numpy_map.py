# map over numpy arrays: no operation of torch's is seen.
# expect: loop_found

import numpy as np
import torch


def batched_matrix_multiply_noloop(x, y):
    return torch.from_numpy(np.stack(list(map(np.matmul, x.numpy(), y.numpy()))))
