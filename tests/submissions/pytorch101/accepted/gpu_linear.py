# As a linear layer without a bias.
# expect:
#   questions:
#     "*": {status: passed}

import torch
import torch.nn.functional as F


def mm_on_gpu(x, w):
    return F.linear(x.cuda(), w.cuda().T).cpu()
