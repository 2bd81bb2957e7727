# Adds the values to what is there.
# expect:
#   questions:
#     mutate_tensor: {status: failed, checks: {values: wrong_value}}

import torch


def mutate_tensor(x, indices, values):
    for index, value in zip(indices, values):
        x[index] += value
    return x
