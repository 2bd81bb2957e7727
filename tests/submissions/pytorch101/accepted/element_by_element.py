# Slow, with three loops more than asked for, but right.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    B, N, M = x.shape
    P = y.shape[2]
    z = torch.zeros((B, N, P), dtype=x.dtype)
    for b in range(B):
        for n in range(N):
            for p in range(P):
                z[b, n, p] = torch.dot(x[b, n, :], y[b, :, p])
    return z


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    return (x - mean) / std


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
