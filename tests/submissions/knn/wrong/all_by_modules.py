# Modules of torch.nn.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, checks: {values: ok, no_shortcut: forbidden_call}}
#     compute_distances_one_loop: {status: partial, checks: {values: ok, no_shortcut: forbidden_call}}

import torch
import torch.nn as nn


def compute_distances_one_loop(x_train, x_test):
    d = x_train.new_zeros(len(x_train), len(x_test))
    a, b = x_train.flatten(1), x_test.flatten(1)
    pd = nn.PairwiseDistance(eps=0.0)
    for i in range(len(a)):
        d[i] = pd(b, a[i][None].expand_as(b))**2
    return d


def compute_distances_two_loops(x_train, x_test):
    d = x_train.new_zeros(len(x_train), len(x_test))
    l = nn.MSELoss(reduction='sum')
    for i in range(len(x_train)):
        for j in range(len(x_test)):
            d[i, j] = l(x_train[i], x_test[j])
    return d
