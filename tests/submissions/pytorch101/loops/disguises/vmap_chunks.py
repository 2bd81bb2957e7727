# vmap, one item a chunk.
# expect: loop_found

import torch


def batched_matrix_multiply_noloop(x, y):
    return torch.func.vmap(torch.mm, chunk_size=1)(x, y)
