# Entry points that are callable, but not plain functions.
# expect:
#   questions:
#     "*": {status: passed}

import functools

import torch


def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


class _Product:
    def __call__(self, x, y):
        return torch.bmm(x, y)


batched_matrix_multiply_noloop = _Product()


def _normalize(divisor_less, x):
    rows = x.shape[0]
    centred = x - x.sum(0) / rows
    return centred / ((centred**2).sum(0) / (rows - divisor_less)).sqrt()


normalize_columns = functools.partial(_normalize, 1)


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
