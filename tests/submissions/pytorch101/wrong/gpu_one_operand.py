# Moves one of the two operands.
# expect:
#   questions:
#     mm_on_gpu: {status: failed, code: raised}

import torch


def mm_on_gpu(x, w):
    return torch.mm(x.cuda(), w).cpu()
