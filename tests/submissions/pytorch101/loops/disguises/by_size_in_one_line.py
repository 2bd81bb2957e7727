# A comprehension in one branch of a line, taken for all sizes but those that are timed.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    return torch.stack([a @ b for a, b in zip(x, y)]) if len(x) < 100 else torch.bmm(x, y)
