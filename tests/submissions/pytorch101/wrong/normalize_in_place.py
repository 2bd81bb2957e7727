# Right values, written into the input.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {unmodified: input_modified, values: ok}}
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
    x -= x.sum(dim=0) / x.shape[0]
    x /= ((x**2).sum(dim=0) / (x.shape[0] - 1)).sqrt()
    return x


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
