# Calls torch.autograd.grad.
# expect:
#   questions:
#     gradient_by_hand: {status: partial, checks: {gradient: ok, float64: ok, by_hand: forbidden_call, no_loops: ok}}

import torch


def gradient_by_hand(x, w, y):
    w = w.clone().requires_grad_()
    return torch.autograd.grad(((x @ w - y) ** 2).mean(), w)[0]
