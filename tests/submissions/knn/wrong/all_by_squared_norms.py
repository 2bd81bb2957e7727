# Squared norms and distances of torch's: right but for rounding, and not allowed.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, checks: {values: ok, images: ok, no_shortcut: forbidden_call}}
#     compute_distances_one_loop: {status: partial, checks: {values: ok, images: ok, no_shortcut: forbidden_call}}
#     compute_distances_no_loops: {status: partial, checks: {values: ok, images: ok, no_shortcut: forbidden_call}}

import torch


def compute_distances_no_loops(x_train, x_test):
    return torch.cdist(x_train.flatten(1), x_test.flatten(1))**2


def compute_distances_one_loop(x_train, x_test):
    d = x_train.new_zeros(len(x_train), len(x_test))
    a, b = x_train.flatten(1), x_test.flatten(1)
    for i in range(len(a)):
        d[i] = torch.norm(b - a[i], dim=1)**2
    return d


def compute_distances_two_loops(x_train, x_test):
    d = x_train.new_zeros(len(x_train), len(x_test))
    for i in range(len(x_train)):
        for j in range(len(x_test)):
            d[i, j] = torch.dist(x_train[i], x_test[j])**2
    return d
