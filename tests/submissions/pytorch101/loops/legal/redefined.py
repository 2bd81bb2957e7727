# An earlier version with a loop, replaced below it, as in an exported notebook.
# expect: ok

import torch


def batched_matrix_multiply_noloop(x, y):
    return torch.stack([a @ b for a, b in zip(x, y)])


def batched_matrix_multiply_noloop(x, y):
    return torch.bmm(x, y)
