# torch.matmul on the whole batch where a loop was asked for.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: partial, checks: {product: ok, loop: loop_missing}}

import torch


def batched_matrix_multiply_loop(x, y):
    return torch.matmul(x, y)
