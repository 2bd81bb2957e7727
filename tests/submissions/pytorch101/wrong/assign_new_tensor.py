# A new tensor of zeros with the pattern: whatever was around it is lost.
# expect:
#   questions:
#     slice_assignment_practice: {status: failed, checks: {values: wrong_value}}

import torch


def slice_assignment_practice(x):
    x = torch.zeros_like(x)
    x[:2, 1] = 1
    x[:2, 2:6] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:6] = 5
    return x
