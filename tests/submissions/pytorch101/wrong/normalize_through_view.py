# Changes the input through a view of it.
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
    y = x.t()
    y.sub_((y.sum(dim=1) / y.shape[1]).view(-1, 1))
    y.div_((y.pow(2).sum(dim=1) / (y.shape[1] - 1)).sqrt().view(-1, 1))
    return x.clone()


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
