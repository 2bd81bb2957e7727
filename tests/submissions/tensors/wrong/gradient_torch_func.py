# Lets torch.func do it.
# expect:
#   questions:
#     gradient_by_hand: {status: partial, checks: {gradient: ok, float64: ok, by_hand: forbidden_call, no_loops: ok}}

import torch


def gradient_by_hand(x, w, y):
    return torch.func.grad(lambda w: ((x @ w - y) ** 2).mean())(w)
