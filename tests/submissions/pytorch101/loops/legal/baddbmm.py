# torch.baddbmm on zeros.
# expect: ok

import torch


def batched_matrix_multiply_noloop(x, y):
    zero = x.new_zeros(x.shape[0], x.shape[1], y.shape[2])
    return torch.baddbmm(zero, x, y)
