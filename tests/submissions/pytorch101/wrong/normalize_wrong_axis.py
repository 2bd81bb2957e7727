# Sums along the wrong axis, which broadcasts on square matrices only.
# expect:
#   questions:
#     normalize_columns: {status: failed, code: raised}
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
    mean = x.sum(dim=1) / x.shape[1]
    return (x - mean) / (((x - mean) ** 2).sum(dim=1) / (x.shape[1] - 1)).sqrt()


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
