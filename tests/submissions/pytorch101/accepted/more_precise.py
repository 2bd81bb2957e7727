# Computes in float64 and returns the dtype of the input.
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
    return torch.bmm(x.double(), y.double()).to(x.dtype)


def normalize_columns(x):
    d = x.to(torch.float64)
    d = d - d.sum(0) / d.shape[0]
    return (d / ((d * d).sum(0) / (d.shape[0] - 1)).sqrt()).type_as(x)


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
