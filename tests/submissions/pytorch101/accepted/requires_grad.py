# Returns a result that autograd follows.
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
    scale = torch.ones((), dtype=x.dtype, requires_grad=True)
    c = x - x.sum(0) / x.shape[0]
    return scale * c / ((c**2).sum(0) / (x.shape[0] - 1)).sqrt()


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
