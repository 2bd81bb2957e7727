# No loop, but a helper for debugging that looks at the interpreter's frames: what the process says
# about itself counts for nothing, and its time does where all sizes are large in it.
# expect:
#   questions:
#     matvec_three_ways: {checks: {values: ok, no_loops: needs_review}}
#     outer_product: {checks: {values: ok, no_loops: ok}}
#     add_column: {checks: {values: ok, no_loops: ok}}

import sys

import torch


def show(value):
    frame = sys._getframe(1)
    print(frame.f_code.co_name, frame.f_lineno, tuple(value.shape))
    return value


def matvec_three_ways(x, v):
    return x.mv(v), x.mm(v[:, None]), show(x @ v)


def outer_product(v, w):
    space = {"v": v, "w": w}
    exec("z = v[:, None] * w", space)
    return show(space["z"])


def add_column(x, w):
    return show(getattr(torch, "ad" + "d")(x, w.unsqueeze(1)))
