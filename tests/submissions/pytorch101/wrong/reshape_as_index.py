# Takes the numbers for places: right for the numbers 0 … 23 in order.
# expect:
#   questions:
#     reshape_practice: {status: failed, code: raised}

import torch


def reshape_practice(x):
    return x[x].view(2, 3, 4).transpose(0, 1).reshape(3, 8)
