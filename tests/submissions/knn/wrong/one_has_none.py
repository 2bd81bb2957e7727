# No loop where one was asked for.
# expect:
#   questions:
#     compute_distances_one_loop: {status: partial, checks: {values: ok, one_loop: loop_missing}}

import torch


def compute_distances_one_loop(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a * a).sum(1, keepdim=True) + (b * b).sum(1) - 2 * a.mm(b.t())
