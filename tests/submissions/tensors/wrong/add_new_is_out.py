# The new tensor is the given one.
# expect:
#   questions:
#     add_three_ways: {status: partial, checks: {sums: ok, in_place: ok, out: ok, new_not_out: shares_memory, new_not_y: ok, x_unchanged: ok}}

import torch


def add_three_ways(x, y, out):
    new = torch.add(x, y, out=out)
    y += x
    return {"new": new, "out": out, "in_place": y}
