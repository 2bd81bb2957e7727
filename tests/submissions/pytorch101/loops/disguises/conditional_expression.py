# A comprehension in the branch of a conditional expression that is taken.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y, use_loop=False):
    return torch.bmm(x, y) if use_loop else torch.stack([a @ b for a, b in zip(x, y)])
