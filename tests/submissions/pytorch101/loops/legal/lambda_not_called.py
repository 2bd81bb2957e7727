# A loop in a lambda that nobody calls.
# expect: ok
# timed: ok

import torch


def batched_matrix_multiply_noloop(x, y):
    looped = lambda: torch.stack([a @ b for a, b in zip(x, y)])
    return torch.bmm(x, y) if x.dim() == 3 else looped()
