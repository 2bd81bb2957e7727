# A loop that torch.jit runs.
# expect: needs_review
# timed: loop_found

import torch


@torch.jit.script
def products(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = torch.zeros([x.shape[0], x.shape[1], y.shape[2]], dtype=x.dtype)
    for i in range(x.shape[0]):
        z[i] = torch.mm(x[i], y[i])
    return z


def batched_matrix_multiply_noloop(x, y):
    return products(x, y)
