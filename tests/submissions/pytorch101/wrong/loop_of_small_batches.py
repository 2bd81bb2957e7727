# Loops over batches of one, multiplied by a batched product.
# expect:
#   questions:
#     batched_matrix_multiply_loop: {status: partial, checks: {product: ok, loop: ok, no_batched_product: forbidden_call}}

import torch


def batched_matrix_multiply_loop(x, y):
    return torch.cat([torch.bmm(x[i : i + 1], y[i : i + 1]) for i in range(x.shape[0])])
