# Inside device contexts, which change nothing for tensors that exist.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def mm_on_gpu(x, w):
    with torch.cuda.device(0), torch.device("cuda"):
        product = torch.zeros(x.shape[0], w.shape[1], dtype=x.dtype)
        product += torch.mm(x.cuda(), w.cuda())
    torch.cuda.synchronize()
    return product.cpu()
