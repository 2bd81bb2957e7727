# Sums as products with ones.
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
    ones = torch.ones((1, m), dtype=x.dtype)
    centred = x - torch.mm(ones, x) / m
    return centred / torch.sqrt(torch.mm(ones, centred * centred) / (m - 1))


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
