# Wants a numpy array of a tensor that is on the GPU.
# expect:
#   questions:
#     mm_on_gpu: {status: failed, code: raised}

import torch


def mm_on_gpu(x, w):
    return torch.from_numpy(torch.mm(x.cuda(), w.cuda()).numpy())
