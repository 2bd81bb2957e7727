# A first version returns; what was tried after it stays below, dead.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    z = None
    z = torch.stack([x[i].mm(y[i]) for i in range(x.shape[0])])
    return z
    z = torch.zeros(x.shape[0], x.shape[1], y.shape[2])
    for i in range(100000):
        z[i] = x[i] * y[i]
    return z


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    n = x.shape[0]
    if n > 1:
        mean = x.sum(dim=0) / n
        return (x - mean) / (((x - mean) ** 2).sum(dim=0) / (n - 1)).sqrt()
    raise NotImplementedError
    return x / 0


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
