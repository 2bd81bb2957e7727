# A loop behind a builtin whose name is put together at run time: the text shows none.
# expect:
#   questions:
#     compute_distances_no_loops: {checks: {values: ok, no_loops: loop_found}}

import builtins

import torch

each = getattr(builtins, "m" + "ap")


def compute_distances_no_loops(x_train, x_test):
    train, test = x_train.flatten(1), x_test.flatten(1)
    return torch.stack(list(each(lambda point: ((test - point) ** 2).sum(dim=1), train)))
