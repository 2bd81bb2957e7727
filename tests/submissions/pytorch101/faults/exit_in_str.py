# An exception whose text ends the process.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: crashed}
#     "*": {status: passed}

import os

import torch


def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


class Leaving(Exception):
    def __str__(self):
        os._exit(0)

    __repr__ = __str__


def normalize_columns(x):
    raise Leaving


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
