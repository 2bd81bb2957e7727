# The loop is in the other function.
# expect:
#   questions:
#     batched_matrix_multiply_noloop: {status: partial, checks: {product: ok, no_loops: loop_found}}

import torch


def batched_matrix_multiply_loop(x, y):
    return torch.stack([a @ b for a, b in zip(x, y)])


def batched_matrix_multiply_noloop(x, y):
    return batched_matrix_multiply_loop(x, y)
