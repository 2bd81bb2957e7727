# Multiplies on the CPU, and something small on the GPU for show.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, on_gpu: ran_elsewhere, moves: requirement_not_met}}

import torch


def mm_on_gpu(x, w):
    torch.mm(x[:1, :1].cuda(), w[:1, :1].cuda())
    return torch.mm(x, w)
