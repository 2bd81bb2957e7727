# Wrong ways to write several functions. docs/authoring.md explains the cells.

import torch


# %% all_by_modules
# Modules of torch.nn.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, checks: {values: ok, no_shortcut: forbidden_call}}
#     compute_distances_one_loop: {status: partial, checks: {values: ok, no_shortcut: forbidden_call}}

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


# %% all_by_squared_norms
# Squared norms and distances of torch's: right but for rounding, and not allowed.
# expect:
#   questions:
#     compute_distances_two_loops: {status: partial, checks: {values: ok, images: ok, no_shortcut: forbidden_call}}
#     compute_distances_one_loop: {status: partial, checks: {values: ok, images: ok, no_shortcut: forbidden_call}}
#     compute_distances_no_loops: {status: partial, checks: {values: ok, images: ok, no_shortcut: forbidden_call}}

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


# %% all_rooted
# All three return the root, and agree with one another.
# expect:
#   mistakes: [two_rooted, one_rooted, none_rooted]
#   questions:
#     compute_distances_two_loops: {status: partial, points: 3, checks: {values: wrong_value}}
#     compute_distances_one_loop: {status: partial, points: 3, checks: {values: wrong_value}}
#     compute_distances_no_loops: {status: partial, points: 3.3}

def compute_distances_two_loops(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        for j in range(x_test.shape[0]):
            dists[i, j] = ((x_train[i] - x_test[j]) ** 2).sum() ** 0.5
    return dists


def compute_distances_one_loop(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        dists[i] = ((x_train[i] - x_test) ** 2).flatten(1).sum(dim=1).sqrt()
    return dists


def compute_distances_no_loops(x_train, x_test):
    a, b = x_train.flatten(1), x_test.flatten(1)
    return ((a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T).sqrt()


# %% none_calls_one_loop
# The loop is in the other function.
# expect:
#   questions:
#     compute_distances_no_loops: {status: partial, checks: {values: ok, no_loops: loop_found}}
#     compute_distances_one_loop: {status: passed}

def compute_distances_one_loop(x_train, x_test):
    dists = x_train.new_zeros(x_train.shape[0], x_test.shape[0])
    for i in range(x_train.shape[0]):
        dists[i] = ((x_train[i] - x_test) ** 2).flatten(1).sum(dim=1)
    return dists


def compute_distances_no_loops(x_train, x_test):
    return compute_distances_one_loop(x_train, x_test)
