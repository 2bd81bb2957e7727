# Wrong ways to write add_three_ways. docs/authoring.md explains the cells.

import torch


# %% add_into_x
# Changes x instead of y, which is returned as a copy.
# expect:
#   questions:
#     add_three_ways: {status: partial, checks: {sums: ok, in_place: not_in_place, out: ok, new_not_out: ok, new_not_y: ok, x_unchanged: input_modified}}

def add_three_ways(x, y, out):
    new = x + y
    torch.add(x, y, out=out)
    x.add_(y)
    return {"new": new, "out": out, "in_place": x}


# %% add_new_is_out
# The new tensor is the given one.
# expect:
#   questions:
#     add_three_ways: {status: partial, checks: {sums: ok, in_place: ok, out: ok, new_not_out: shares_memory, new_not_y: ok, x_unchanged: ok}}

def add_three_ways(x, y, out):
    new = torch.add(x, y, out=out)
    y += x
    return {"new": new, "out": out, "in_place": y}


# %% add_new_is_y
# The new tensor is y, which has the right sum in the end.
# expect:
#   questions:
#     add_three_ways: {status: partial, checks: {sums: ok, in_place: ok, out: ok, new_not_out: ok, new_not_y: shares_memory, x_unchanged: ok}}

def add_three_ways(x, y, out):
    torch.add(x, y, out=out)
    y += x
    return {"new": y, "out": out, "in_place": y}


# %% add_out_forgotten
# Nothing is written into the given tensor.
# expect:
#   questions:
#     add_three_ways: {status: partial, checks: {sums: ok, in_place: ok, out: not_in_place, new_not_out: ok, new_not_y: ok, x_unchanged: ok}}

def add_three_ways(x, y, out):
    new = x + y
    out = torch.add(x, y)
    y.add_(x)
    return {"new": new, "out": out, "in_place": y}


# %% add_out_of_place
# y = y + x binds a name; the caller's tensor stays as it was.
# expect:
#   questions:
#     add_three_ways: {status: partial, checks: {sums: ok, in_place: not_in_place, out: ok, new_not_out: ok, new_not_y: ok, x_unchanged: ok}}

def add_three_ways(x, y, out):
    new = x + y
    torch.add(x, y, out=out)
    y = y + x
    return {"new": new, "out": out, "in_place": y}


# %% add_too_early
# Adds in place first, and x a second time after that.
# expect:
#   questions:
#     add_three_ways: {status: partial, checks: {sums: wrong_value}}

def add_three_ways(x, y, out):
    y.add_(x)
    new = x + y
    torch.add(x, y, out=out)
    return {"new": new, "out": out, "in_place": y}
