# The difference the other way round.
# expect:
#   questions:
#     gradient_by_hand: {status: failed, checks: {gradient: wrong_value}}

import torch


def gradient_by_hand(x, w, y):
    return 2 / y.numel() * (x.t() @ (y - x @ w))
