# An exception with 200 causes, each with a traceback of its own.
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
    error = ValueError("the first")
    for number in range(200):
        try:
            raise ValueError(f"number {number}") from error
        except ValueError as caught:
            error = caught
    raise error


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
