# Asserts before it works.
# expect: ok

import torch


def batched_matrix_multiply_noloop(x, y):
    assert x.dim() == 3 and y.dim() == 3, (x.shape, y.shape)
    assert x.shape[0] == y.shape[0] and bool((x == x).all())
    return torch.bmm(x, y)
