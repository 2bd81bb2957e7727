# Writes into a copy and returns that.
# expect:
#   questions:
#     mutate_tensor: {status: partial, checks: {values: ok, in_place: not_in_place}}

import torch


def mutate_tensor(x, indices, values):
    y = x.clone()
    for index, value in zip(indices, values):
        y[index] = value
    return y
