# Broadcasting and a sum.
# expect: ok

import torch


def batched_matrix_multiply_noloop(x, y):
    return (x.unsqueeze(-1) * y.unsqueeze(1)).sum(dim=2)
