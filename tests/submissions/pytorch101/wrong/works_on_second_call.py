# Fails on its first call only: state between calls.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: partial, checks: {product: raised, float32: ok}}
#     "*": {status: passed}

import torch


def batched_matrix_multiply_loop(x, y):
    products = []
    for i in range(x.shape[0]):
        products.append(torch.mm(x[i], y[i]))
    return torch.stack(products)


_calls = 0


def batched_matrix_multiply_noloop(x, y):
    global _calls
    _calls += 1
    if _calls == 1:
        raise RuntimeError("not warm yet")
    return torch.bmm(x, y)


def normalize_columns(x):
    rows = x.shape[0]
    mean = x.sum(dim=0) / rows
    std = torch.sqrt(((x - mean) ** 2).sum(dim=0) / (rows - 1))
    return (x - mean) / std


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w.cuda()).cpu()
