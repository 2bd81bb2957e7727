# Leaves a process behind for a minute, and answers right or may not start it.
# expect:
#   questions:
#     "*": {status: passed}

import subprocess

import torch


def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    try:
        subprocess.Popen(["sleep", "60"])
    except OSError:
        pass
    mean = x.sum(dim=0) / x.shape[0]
    return (x - mean) / torch.sqrt(((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1))


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
