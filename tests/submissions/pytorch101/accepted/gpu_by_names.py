# Devices by string, by number and by torch.device.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def mm_on_gpu(x, w):
    device = torch.device("cuda", 0)
    return (x.to("cuda:0") @ w.to(device)).to("cpu")
