# Recursion without an end and without Python's limit: the stack itself overflows.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: crashed}
#     "*": {status: passed}

import functools
import sys

import torch


def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    sys.setrecursionlimit(2**30)

    class Deep:
        def __init__(self, inner):
            self.inner = inner

        def __repr__(self):
            return repr([self.inner])

    deep = None
    for _ in range(1_000_000):
        deep = Deep(deep)
    repr(deep)
    mean = x.sum(dim=0) / x.shape[0]
    return (x - mean) / torch.sqrt(((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1))


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
