# A tensor on the right of an index by a list.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, in_place: ok, six_assignments: ok, one_number_each: forbidden_call}}

import torch


def slice_assignment_practice(x):
    x[[0, 1], :6] = torch.tensor([0, 1, 2, 2, 2, 2], dtype=x.dtype)
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x
