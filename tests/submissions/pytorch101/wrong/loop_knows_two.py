# Written for the example: exactly two matrices.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: failed, code: wrong_shape}
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    first = x[0].mm(y[0])
    second = x[-1].mm(y[-1])
    return torch.stack([first, second])


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    return (x - mean) / std


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
