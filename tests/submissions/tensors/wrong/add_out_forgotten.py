# Nothing is written into the given tensor.
# expect:
#   questions:
#     add_three_ways: {status: partial, checks: {sums: ok, in_place: ok, out: not_in_place, new_not_out: ok, new_not_y: ok, x_unchanged: ok}}

import torch


def add_three_ways(x, y, out):
    new = x + y
    out = torch.add(x, y)
    y.add_(x)
    return {"new": new, "out": out, "in_place": y}
