# A loop after the return.
# expect: ok

import torch


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)
    z = []
    for i in range(len(x)):
        z.append(x[i] @ y[i])
    return torch.stack(z)
