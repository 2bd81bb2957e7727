# Adds in place first, and x a second time after that.
# expect:
#   questions:
#     add_three_ways: {status: failed, checks: {sums: wrong_value}}

import torch


def add_three_ways(x, y, out):
    y.add_(x)
    new = x + y
    torch.add(x, y, out=out)
    return {"new": new, "out": out, "in_place": y}
