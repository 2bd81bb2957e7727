# A comprehension that only builds a tuple of dims.
# expect: ok

import torch


def batched_matrix_multiply_noloop(x, y):
    order = tuple(d for d in range(x.dim()))
    shape = [size for size in x.shape]
    return torch.bmm(x.permute(order).reshape(shape), y)
