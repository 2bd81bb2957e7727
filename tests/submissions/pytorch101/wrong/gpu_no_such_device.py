# Asks for a GPU that is not there.
# expect:
#   questions:
#     mm_on_gpu: {status: failed, code: raised}

import torch


def mm_on_gpu(x, w):
    return torch.mm(x.to("cuda:1"), w.to("cuda:1")).cpu()
