# Multiplies in float32 whatever it gets.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, float64: wrong_value, on_gpu: ok, moves: ok}}

import torch


def mm_on_gpu(x, w):
    return torch.mm(x.float().cuda(), w.float().cuda()).to(x.dtype).cpu()
