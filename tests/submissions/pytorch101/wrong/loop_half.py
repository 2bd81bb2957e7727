# Half precision inside the loop: whole numbers survive it, other numbers do not.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: partial, checks: {product: ok, float32: wrong_value, float64: wrong_value}}
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    return torch.stack([a.half().mm(b.half()).to(a.dtype) for a, b in zip(x, y)])


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)


def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    return (x - mean) / std


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
