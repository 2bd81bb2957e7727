# Goes on without a GPU where there is none, by trying. With one, it is used.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def mm_on_gpu(x, w):
    try:
        return torch.mm(x.cuda(), w.cuda()).cpu()
    except (RuntimeError, AssertionError):
        return torch.mm(x, w)
