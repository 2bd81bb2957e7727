# torch.zeros is float32, so float64 digits are lost on the way.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: partial, checks: {product: ok, float64: wrong_value, dtype: wrong_dtype}}
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    z = torch.zeros(x.shape[0], x.shape[1], y.shape[2])
    for i in range(x.shape[0]):
        z[i] = x[i].mm(y[i])
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
