# functools.reduce that appends.
# expect: loop_found

from functools import reduce

import torch


def batched_matrix_multiply_noloop(x, y):
    products = reduce(lambda done, i: done + [x[i] @ y[i]], range(len(x)), [])
    return torch.stack(products)
