# Tensors on the right, where one number was asked for.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, in_place: ok, six_assignments: ok, one_number_each: forbidden_call}}

import torch


def slice_assignment_practice(x):
    x[:2, :6] = torch.tensor([0, 1, 2, 2, 2, 2])
    x[2:4, :6] = torch.tensor([3, 4, 3, 4, 5, 5])
    return x
