# Multiplies in bfloat16.
# expect:
#   questions:
#     mm_on_gpu: {status: failed, checks: {product: wrong_value, large: wrong_value, float64: wrong_value, on_gpu: requirement_not_met}}

import torch


def mm_on_gpu(x, w):
    return torch.mm(x.cuda().bfloat16(), w.cuda().bfloat16()).to(x.dtype).cpu()
