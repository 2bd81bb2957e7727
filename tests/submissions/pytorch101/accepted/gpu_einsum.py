# As a sum over an index.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def mm_on_gpu(x, w):
    return torch.einsum("ij,jk->ik", x.cuda(), w.cuda()).cpu()
