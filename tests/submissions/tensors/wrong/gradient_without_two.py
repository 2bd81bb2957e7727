# Forgets the factor 2.
# expect:
#   questions:
#     gradient_by_hand: {status: failed, checks: {gradient: wrong_value}}

import torch


def gradient_by_hand(x, w, y):
    return x.t() @ (x @ w - y) / y.numel()
