# Both ways in one line; only one is taken.
# expect: ok
# timed: ok

import torch


def batched_matrix_multiply_noloop(x, y, use_loop=False):
    return torch.stack([a @ b for a, b in zip(x, y)]) if use_loop else torch.bmm(x, y)
