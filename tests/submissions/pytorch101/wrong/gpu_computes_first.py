# Multiplies on the CPU, then sends the product to the GPU and back.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, on_gpu: ran_elsewhere, moves: requirement_not_met}}

import torch


def mm_on_gpu(x, w):
    product = torch.mm(x, w)
    return product.cuda().cpu()
