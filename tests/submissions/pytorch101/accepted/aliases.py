# Aliases for modules, functions and arguments; asserts.
# expect:
#   questions:
#     "*": {status: passed}

import torch as th
from torch import bmm as batched_product, mm as product, stack as pile


def batched_matrix_multiply_loop(x, y):
    assert x.dim() == 3 and y.dim() == 3, "two batches, please"
    assert x.shape[0] == y.shape[0] and x.shape[2] == y.shape[1]
    a, b = x, y
    return pile([product(a[i], b[i]) for i in range(a.shape[0])])


def batched_matrix_multiply_noloop(x, y):
    f = batched_product
    return f(x, y)


def _centred(t):
    return t - t.sum(0) / t.shape[0]


def _normalized(t):
    c = _centred(t)
    return c / th.sqrt((c * c).sum(0) / (t.shape[0] - 1))


normalize_columns = _normalized


mm_on_gpu = lambda x, w: product(x.cuda(), w.cuda()).cpu()
