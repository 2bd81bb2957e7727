# Returns a view of x.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, in_place: not_in_place}}

import torch


def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x[:]
