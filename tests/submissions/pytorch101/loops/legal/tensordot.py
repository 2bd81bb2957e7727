# tensordot with a diagonal.
# expect: ok

import torch


def batched_matrix_multiply_noloop(x, y):
    every = torch.tensordot(x, y, dims=([2], [1]))
    return every.diagonal(dim1=0, dim2=2).permute(2, 0, 1)
