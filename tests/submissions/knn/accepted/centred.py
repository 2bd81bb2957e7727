# The textbook cure for cancellation: points are centred before they are multiplied.
# expect:
#   questions:
#     compute_distances_no_loops: {status: passed}
#     "*": {status: passed}

import torch


def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    m = a.mean(0)
    a, b = a - m, b - m
    return (a**2).sum(1, keepdim=True) + (b**2).sum(1) - 2 * a @ b.t()
