# An exception with a message of 10 MB.
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
    raise ValueError("very " * 2_000_000 + "long")


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
