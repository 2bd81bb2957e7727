# baddbmm, block-diagonal matrices, and a product of matrix columns.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    z = torch.empty((x.size(0), x.size(1), y.size(2)), dtype=x.dtype, device=x.device)
    for i in range(x.size(0)):
        torch.mm(x[i], y[i], out=z[i])
    return z


def batched_matrix_multiply_noloop(x, y):
    start = torch.zeros(1, dtype=x.dtype)
    return torch.baddbmm(start, x, y, beta=0)


def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    return (x - mean) / std


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
