# Recursion by halves.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    if len(x) == 1:
        return (x[0] @ y[0]).unsqueeze(0)
    half = len(x) // 2
    left = batched_matrix_multiply_noloop(x[:half], y[:half])
    return torch.cat([left, batched_matrix_multiply_noloop(x[half:], y[half:])])
