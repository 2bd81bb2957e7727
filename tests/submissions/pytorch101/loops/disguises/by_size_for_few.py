# A loop in one branch of a line, taken for the smaller of the counted sizes alone.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    return torch.stack([a @ b for a, b in zip(x, y)]) if len(x) < 8 else torch.bmm(x, y)
