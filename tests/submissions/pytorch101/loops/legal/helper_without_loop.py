# A helper that is called once.
# expect: ok

import torch


def product(a, b):
    return torch.bmm(a, b)


def batched_matrix_multiply_noloop(x, y):
    return product(x, y)
