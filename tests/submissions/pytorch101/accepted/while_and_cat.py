# A while loop that grows the result by concatenation.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    z = torch.mm(x[0], y[0]).unsqueeze(0)
    i = 1
    while i < x.shape[0]:
        z = torch.cat((z, torch.mm(x[i], y[i]).unsqueeze(0)), dim=0)
        i += 1
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
