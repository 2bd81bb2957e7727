# The whole pattern as one tensor.
# expect:
#   questions:
#     slice_assignment_practice: {status: partial, checks: {values: ok, in_place: ok, six_assignments: ok, one_number_each: forbidden_call}}

import torch


def slice_assignment_practice(x):
    x[:4, :6] = torch.tensor([[0,1,2,2,2,2],[0,1,2,2,2,2],[3,4,3,4,5,5],[3,4,3,4,5,5]])
    return x
