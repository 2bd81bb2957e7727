# Writes to the end of the rows, which six columns would not show.
# expect:
#   questions:
#     slice_assignment_practice: {status: failed, checks: {values: wrong_value}}

import torch


def slice_assignment_practice(x):
    x[:2, 0] = 0
    x[:2, 1] = 1
    x[:2, 2:] = 2
    x[2:4, 0:4:2] = 3
    x[2:4, 1:4:2] = 4
    x[2:4, 4:] = 5
    return x
