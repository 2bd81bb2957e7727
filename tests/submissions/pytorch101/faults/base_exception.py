# Raises an exception that does not descend from Exception.
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


class Stop(BaseException):
    pass


def normalize_columns(x):
    raise Stop("here")


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
