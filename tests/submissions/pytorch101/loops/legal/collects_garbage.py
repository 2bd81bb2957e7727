# Frees memory around the product.
# expect: ok
# timed: ok

import gc

import torch


def batched_matrix_multiply_noloop(x, y):
    gc.collect()
    z = torch.bmm(x, y)
    gc.collect()
    return z
