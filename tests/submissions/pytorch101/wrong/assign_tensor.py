# Tensors on the right, where one number was asked for. The operation shows, its place does not.
# expect:
#   questions:
#     slice_assignment_practice: {status: deferred, checks: {values: ok, in_place: ok, six_assignments: ok, one_number_each: needs_review}}

import torch


def slice_assignment_practice(x):
    x[:2, :6] = torch.tensor([0, 1, 2, 2, 2, 2])
    x[2:4, :6] = torch.tensor([3, 4, 3, 4, 5, 5])
    return x
