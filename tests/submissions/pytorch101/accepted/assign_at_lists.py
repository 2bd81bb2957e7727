# Indices as lists and tensors; one number each.
# expect:
#   questions:
#     slice_assignment_practice: {status: passed}
#     "*": {status: passed}

import torch


def slice_assignment_practice(x):
    x[[0, 1], 0] = 0
    x[[0, 1], 1] = 1
    x[0:2, 2:6] = 2
    x[2:4, [0, 2]] = 3
    x[2:4, torch.tensor([1, 3])] = 4
    x[2:4, 4:6] = 5
    return x
