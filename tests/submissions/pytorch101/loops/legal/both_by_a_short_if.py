# Both ways, one behind a condition on the same line; only one is taken.
# expect: ok
# timed: ok

import torch


def batched_matrix_multiply_noloop(x, y, use_loop=False):
    if use_loop: return torch.stack([a @ b for a, b in zip(x, y)])
    return torch.bmm(x, y)
