# Both matrices travel in one copy.
# expect:
#   questions:
#     mm_on_gpu: {status: passed}
#     "*": {status: passed}

import torch


def mm_on_gpu(x, w):
    n = x.shape[0]
    both = torch.cat([x, w.t()]).cuda()
    return (both[:n] @ both[n:].t()).cpu()
