# Products by torch.matmul; squares by torch.pow.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    return torch.stack([torch.matmul(x[i], y[i]) for i in range(len(x))])


def batched_matrix_multiply_noloop(x, y):
    return torch.matmul(x, y)


def normalize_columns(x):
    m = x.size(0)
    mu = torch.sum(x, 0) / m
    sigma = torch.pow(torch.sum(torch.pow(x - mu, 2), 0) / (m - 1), 0.5)
    return (x - mu) / sigma


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
