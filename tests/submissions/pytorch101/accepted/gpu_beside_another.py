# One operand is moved to where the other is.
# expect:
#   questions:
#     "*": {status: passed}

import torch


def mm_on_gpu(x, w):
    there = x.cuda(0)
    return w.to(there).t().mm(there.t()).t().to(x.device)
