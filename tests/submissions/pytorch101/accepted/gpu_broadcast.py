# By broadcasting and a sum, on the GPU.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def mm_on_gpu(x, w):
    return (x.cuda()[:, :, None] * w.cuda()[None]).sum(1).cpu()
