# No loop, but a helper for debugging that looks at the interpreter's frames: what the process says
# about itself counts for nothing, and its time does where all sizes are large in it.
# expect:
#   questions:
#     matvec_three_ways: {checks: {values: ok, no_loops: ok}}
#     add_column: {checks: {values: ok, no_loops: ok}}

import sys

import torch


def show(value):
    frame = sys._getframe(1)
    print(frame.f_code.co_name, frame.f_lineno, tuple(value.shape))
    return value


def matvec_three_ways(x, v):
    return x.mv(v), x.mm(v[:, None]), show(x @ v)


def add_column(x, w):
    space = {"column": w.unsqueeze(1)}
    exec("column = column + 0", space)
    return show(getattr(torch, "ad" + "d")(x, space["column"]))
