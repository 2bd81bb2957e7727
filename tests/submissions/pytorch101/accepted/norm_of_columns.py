# The deviation as a vector norm.
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
    centred = x - x.sum(dim=0) / x.shape[0]
    return centred * (x.shape[0] - 1) ** 0.5 / torch.linalg.norm(centred, dim=0)


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
