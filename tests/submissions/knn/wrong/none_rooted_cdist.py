# cdist as it is: the shortcut is told beside the root.
# expect:
#   questions:
#     compute_distances_no_loops: {status: failed, checks: {values: wrong_value, no_shortcut: forbidden_call}}

import torch


def compute_distances_no_loops(x_train, x_test):
    return torch.cdist(x_train.flatten(1), x_test.flatten(1))
