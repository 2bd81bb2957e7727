# Multiplies in half precision.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: wrong_value, float64: wrong_value, on_gpu: requirement_not_met}}

import torch


def mm_on_gpu(x, w):
    return torch.mm(x.cuda().half(), w.cuda().half()).to(x.dtype).cpu()
