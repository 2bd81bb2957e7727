# Returns whole numbers.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: wrong_value}
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
    mean = x.sum(dim=0) / x.shape[0]
    std = (((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1)).sqrt()
    return ((x - mean) / std).to(torch.int64)


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
