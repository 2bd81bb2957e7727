# Works on the transpose; the result is not contiguous.
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
    return torch.bmm(y.transpose(1, 2), x.transpose(1, 2)).transpose(1, 2)


def normalize_columns(x):
    t = x.t()
    m = t.shape[1]
    t = t - (t.sum(dim=1) / m).view(-1, 1)
    return (t / ((t**2).sum(dim=1) / (m - 1)).sqrt().reshape(-1, 1)).t()


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
