# Computes in float32.
# expect:
#   questions:
#     gradient_by_hand: {status: partial, checks: {gradient: ok, float64: wrong_value, by_hand: ok, no_loops: ok}}

import torch


def gradient_by_hand(x, w, y):
    x, w, y = x.float(), w.float(), y.float()
    return 2 / y.numel() * (x.t() @ (x @ w - y))
