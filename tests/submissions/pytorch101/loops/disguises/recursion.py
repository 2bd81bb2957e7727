# Recursion on what is left.
# expect: loop_found

import torch


def rest(x, y):
    if len(x) == 0:
        return []
    return [x[0] @ y[0]] + rest(x[1:], y[1:])


def batched_matrix_multiply_noloop(x, y):
    return torch.stack(rest(x, y))
