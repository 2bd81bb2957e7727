# Where a place comes twice, the first value stays.
# expect:
#   questions:
#     mutate_tensor: {status: failed, checks: {values: wrong_value}}

import torch


def mutate_tensor(x, indices, values):
    for index, value in zip(reversed(indices), reversed(values)):
        x[index] = value
    return x
