# y = y + x binds a name; the caller's tensor stays as it was.
# expect:
#   questions:
#     add_three_ways: {status: partial, checks: {sums: ok, in_place: not_in_place, out: ok, new_not_out: ok, new_not_y: ok, x_unchanged: ok}}

import torch


def add_three_ways(x, y, out):
    new = x + y
    torch.add(x, y, out=out)
    y = y + x
    return {"new": new, "out": out, "in_place": y}
