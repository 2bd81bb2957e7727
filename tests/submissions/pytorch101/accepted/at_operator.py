# Products by the @ operator; the root by ** 0.5.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    B, N, M = x.shape
    P = y.shape[2]
    z = torch.zeros(B, N, P, dtype=x.dtype)
    for b in range(B):
        z[b] = x[b] @ y[b]
    return z


def batched_matrix_multiply_noloop(x, y):
    return x @ y


def normalize_columns(x):
    M, N = x.shape
    mean = x.sum(0) / M
    std = (((x - mean) ** 2).sum(0) / (M - 1)) ** 0.5
    return (x - mean) / std


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
