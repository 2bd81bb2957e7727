# The new tensor is y, which has the right sum in the end.
# expect:
#   questions:
#     add_three_ways: {status: partial, checks: {sums: ok, in_place: ok, out: ok, new_not_out: ok, new_not_y: shares_memory, x_unchanged: ok}}

import torch


def add_three_ways(x, y, out):
    torch.add(x, y, out=out)
    y += x
    return {"new": y, "out": out, "in_place": y}
