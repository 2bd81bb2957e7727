# Both ways in one line, by “and” and “or”; only one is taken.
# expect: ok
# timed: ok

import torch


def batched_matrix_multiply_noloop(x, y, use_loop=False):
    looped = use_loop and torch.stack([a @ b for a, b in zip(x, y)])
    return torch.bmm(x, y) if looped is False else looped
