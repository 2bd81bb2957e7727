# Eight assignments.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, in_place: ok, six_assignments: too_many_calls, one_number_each: ok}}

import torch


def slice_assignment_practice(x):
    x[0:2, 0] = 0
    x[0:2, 1] = 1
    x[0:2, 2:6] = 2
    x[2:4, 0] = 3
    x[2:4, 1] = 4
    x[2:4, 2] = 3
    x[2:4, 3] = 4
    x[2:4, 4:6] = 5
    return x
