# Multiplies on the CPU.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, on_gpu: ran_elsewhere, moves: requirement_not_met, speed: requirement_not_met}}
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
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    return (x - mean) / std


def mm_on_gpu(x, w):
    return torch.mm(x, w)
