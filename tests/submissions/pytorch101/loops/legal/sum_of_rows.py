# built-in sum over the rows of a broadcast product.
# expect: ok

import torch


def batched_matrix_multiply_noloop(x, y):
    terms = x.permute(2, 0, 1).unsqueeze(-1) * y.permute(1, 0, 2).unsqueeze(2)
    return sum(terms)
