# torch.bmm where a loop was asked for.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: partial, checks: {product: ok, loop: loop_missing, no_batched_product: forbidden_call}}

import torch


def batched_matrix_multiply_loop(x, y):
    return torch.bmm(x, y)
