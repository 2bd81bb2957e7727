# Squeezes its result, which drops N where N is 1.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: partial, checks: {product: ok, shape: wrong_shape}}
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    return torch.stack([x[i].mm(y[i]).squeeze(0) for i in range(x.shape[0])])


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    return (x - mean) / std


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
