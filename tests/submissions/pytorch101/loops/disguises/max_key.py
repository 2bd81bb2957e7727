# max(key=) does the work in its key.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    products = {}
    max(range(len(x)), key=lambda i: products.__setitem__(i, x[i] @ y[i]) or i)
    return torch.stack(list(products.values()))
