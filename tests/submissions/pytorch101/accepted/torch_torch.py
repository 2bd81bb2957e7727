# A slip of the editor that works: torch.torch.zeros.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    z = torch.torch.zeros((x.shape[0], x.shape[1], y.shape[2]), dtype=x.dtype)
    for i in range(z.shape[0]):
        z[i, :, :] = torch.mm(x[i, :, :], y[i, :, :])
    return z


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    return (x - mean) / std


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
