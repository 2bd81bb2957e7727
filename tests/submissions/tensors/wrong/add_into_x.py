# Changes x instead of y, which is returned as a copy.
# expect:
#   questions:
#     add_three_ways: {status: partial, checks: {sums: ok, in_place: not_in_place, out: ok, new_not_out: ok, new_not_y: ok, x_unchanged: wrong_value}}

import torch


def add_three_ways(x, y, out):
    new = x + y
    torch.add(x, y, out=out)
    x.add_(y)
    return {"new": new, "out": out, "in_place": x}
