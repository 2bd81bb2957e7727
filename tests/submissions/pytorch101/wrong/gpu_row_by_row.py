# Sends the second operand anew for each row of the first.
# expect:
#   questions:
#     mm_on_gpu: {status: partial, checks: {product: ok, on_gpu: ok, moves: wrong_transfers}}

import torch


def mm_on_gpu(x, w):
    return torch.cat([torch.mm(row[None].cuda(), w.cuda()) for row in x]).cpu()
