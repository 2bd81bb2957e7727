# Prints 100 MB and then answers right; what is too much to keep is dropped.
# expect:
#   questions:
#     normalize_columns: {status: partial, checks: {values: ok, no_loops: loop_found, no_mean_or_std: ok}}
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
    for _ in range(1000):
        print("all work and no play " * 5000)
    mean = x.sum(dim=0) / x.shape[0]
    return (x - mean) / torch.sqrt(((x - mean) ** 2).sum(dim=0) / (x.shape[0] - 1))


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
