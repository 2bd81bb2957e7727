# Reads from address 0.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: crashed}
#     batched_matrix_multiply_loop: {status: passed}
#     batched_matrix_multiply_noloop: {status: passed}
#     "*": {status: passed}

import ctypes

import torch


def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    ctypes.string_at(0)
    mean = x.sum(dim=0) / x.shape[0]
    return (x - mean) / torch.sqrt(((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1))


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
