# Divides by the number of rows, not of entries.
# expect:
#   questions:
#     gradient_by_hand: {status: failed, checks: {gradient: wrong_value}}

import torch


def gradient_by_hand(x, w, y):
    return 2 * x.t() @ (x @ w - y) / y.shape[0]
