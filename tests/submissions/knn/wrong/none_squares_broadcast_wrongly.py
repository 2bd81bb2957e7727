# The squares of the training points along the columns: works where the numbers of points agree.
# expect:
#   questions:
#     compute_distances_no_loops: {status: failed, code: raised}

import torch


def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return (a**2).sum(1) + (b**2).sum(1)[:, None] - 2 * a @ b.T
