# Through page-locked memory, without waiting, into a tensor made beforehand.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def mm_on_gpu(x, w):
    x = x.pin_memory().to("cuda", non_blocking=True)
    w = w.pin_memory().to("cuda", non_blocking=True)
    product = torch.empty(x.shape[0], w.shape[1], dtype=x.dtype, device=x.device)
    torch.mm(x, w, out=product)
    result = torch.empty(product.shape, dtype=product.dtype)
    return result.copy_(product)
