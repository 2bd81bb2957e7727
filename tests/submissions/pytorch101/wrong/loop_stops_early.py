# The loop leaves out the last pair; its place stays zero.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: failed, code: wrong_value}
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    z = torch.zeros(x.shape[0], x.shape[1], y.shape[2], dtype=x.dtype)
    for i in range(x.shape[0] - 1):
        z[i] = x[i] @ y[i]
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
