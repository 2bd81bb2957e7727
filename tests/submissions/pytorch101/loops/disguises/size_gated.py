# One product for small batches, a loop for large ones.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    if len(x) < 12:
        return torch.bmm(x, y)
    return torch.stack([a @ b for a, b in zip(x, y)])
