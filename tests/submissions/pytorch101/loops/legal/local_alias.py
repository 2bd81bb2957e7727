# A local alias and a transpose.
# expect: ok

import torch


def batched_matrix_multiply_noloop(x, y):
    multiply = torch.matmul
    return multiply(y.transpose(1, 2), x.transpose(1, 2)).transpose(1, 2)
