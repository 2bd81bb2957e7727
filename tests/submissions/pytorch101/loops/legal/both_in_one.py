# One function with both ways; only one is taken.
# expect: ok
# timed: ok

import torch


def batched_matrix_multiply(x, y, use_loop=True):
    if use_loop:
        return torch.stack([x[i] @ y[i] for i in range(len(x))])
    return torch.bmm(x, y)


def batched_matrix_multiply_noloop(x, y):
    return batched_matrix_multiply(x, y, use_loop=False)
