# The variance as (sum of squares - M * mean²) / (M - 1): right, and a little less precise.
# expect:
#   questions:
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
    m = x.shape[0]
    mean = x.sum(dim=0) / m
    variance = ((x**2).sum(dim=0) - m * mean**2) / (m - 1)
    return (x - mean) / variance**0.5


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
