# Multiplies the first rows on the GPU and all the others on the CPU.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, on_gpu: ran_elsewhere}}

import torch


def mm_on_gpu(x, w):
    rows = max(1, x.shape[0] // 4)
    first = x[:rows].cuda().mm(w.cuda()).cpu()
    return torch.cat([first, x[rows:].mm(w)])
