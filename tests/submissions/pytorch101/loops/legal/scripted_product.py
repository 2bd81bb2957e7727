# A scripted function without a loop.
# expect: ok

import torch


@torch.jit.script
def product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.bmm(x, y)


def batched_matrix_multiply_noloop(x, y):
    return product(x, y)
