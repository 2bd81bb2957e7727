# In place, but on a copy: the input stays as it was.
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
    y = x.clone()
    y -= y.sum(dim=0) / y.shape[0]
    y /= (y.pow(2).sum(dim=0) / (y.shape[0] - 1)).sqrt()
    return y


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
