# itertools.accumulate.
# expect: loop_found

import itertools

import torch


def batched_matrix_multiply_noloop(x, y):
    steps = itertools.accumulate(range(len(x)), lambda done, i: done + [x[i] @ y[i]], initial=[])
    return torch.stack(list(steps)[-1])
