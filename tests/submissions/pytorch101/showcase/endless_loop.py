# The counter of a while loop is never raised; the other questions are graded.
# expect:
#   score: 10
#   questions:
#     batched_matrix_multiply_loop: {status: failed, code: timed_out}
#     "*": {status: passed}

import torch
from torch import Tensor


def batched_matrix_multiply_loop(x: Tensor, y: Tensor) -> Tensor:
    """Multiply each matrix of one batch by its partner, one pair at a time."""
    z = torch.zeros(x.shape[0], x.shape[1], y.shape[2], dtype=x.dtype)
    i = 0
    while i < x.shape[0]:
        z[i] = x[i].mm(y[i])
    return z


def batched_matrix_multiply_noloop(x: Tensor, y: Tensor) -> Tensor:
    """Multiply each matrix of one batch by its partner, all pairs at once."""
    return x.bmm(y)


def normalize_columns(x: Tensor) -> Tensor:
    """Shift and scale each column to mean 0 and standard deviation 1."""
    rows = x.shape[0]
    centred = x - x.sum(dim=0) / rows
    return centred / ((centred**2).sum(dim=0) / (rows - 1)).sqrt()


def mm_on_gpu(x: Tensor, w: Tensor) -> Tensor:
    """Multiply two matrices on the GPU and bring the product back."""
    return x.cuda().mm(w.cuda()).cpu()
