# Goes on without a GPU where there is none, by asking for it.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def mm_on_gpu(x, w):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.mm(x.to(device), w.to(device)).cpu()
