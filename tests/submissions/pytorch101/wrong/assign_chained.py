# Seven assignments, two of them in one line.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, six_assignments: too_many_calls, one_number_each: ok}}

import torch


def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2, 0:4:2] = x[3, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x
