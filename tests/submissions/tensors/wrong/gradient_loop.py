# Row by row.
# expect:
#   questions:
#     gradient_by_hand: {status: partial, checks: {gradient: ok, float64: ok, by_hand: ok, no_loops: loop_found}}

import torch


def gradient_by_hand(x, w, y):
    total = torch.zeros_like(w)
    for i in range(x.shape[0]):
        total += x[i][:, None] * (x[i] @ w - y[i])
    return 2 / y.numel() * total
