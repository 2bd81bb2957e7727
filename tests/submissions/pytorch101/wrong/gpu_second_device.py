# Asks for a GPU that is not there, and goes on without any.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, on_gpu: ran_elsewhere, moves: requirement_not_met}}

import torch


def mm_on_gpu(x, w):
    try:
        return torch.mm(x.to("cuda:1"), w.to("cuda:1")).cpu()
    except RuntimeError:
        return torch.mm(x, w)
