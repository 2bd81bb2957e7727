# Empties its inputs, to have the memory back.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, on_gpu: ok, unmodified: input_modified}}

import torch


def mm_on_gpu(x, w):
    product = torch.mm(x.cuda(), w.cuda()).cpu()
    x.zero_()
    w.zero_()
    return product
