# A mean, times the number of its terms.
# expect:
#   questions:
#     compute_distances_two_loops: {status: passed}
#     compute_distances_one_loop: {status: passed}
#     "*": {status: passed}

import torch


def compute_distances_two_loops(x_train, x_test):
    d = x_train.new_zeros(len(x_train), len(x_test))
    for i in range(len(x_train)):
        for j in range(len(x_test)):
            e = x_train[i] - x_test[j]
            d[i, j] = (e**2).mean() * e.numel()
    return d


def compute_distances_one_loop(x_train, x_test):
    d = x_train.new_zeros(len(x_train), len(x_test))
    a, b = x_train.flatten(1), x_test.flatten(1)
    for i in range(len(a)):
        d[i] = ((b - a[i])**2).mean(1) * a.shape[1]
    return d
