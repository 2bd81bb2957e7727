# Returns float32, whatever comes in.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, float64: wrong_value, dtype: wrong_dtype}}
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    y = x.float()
    y = y - y.sum(dim=0) / y.shape[0]
    return y / ((y**2).sum(dim=0) / (y.shape[0] - 1)).sqrt()


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
