# Returns a view of x.
# expect:
#   questions:
#     mutate_tensor: {status: partial, checks: {values: ok, in_place: not_in_place}}

import torch


def mutate_tensor(x, indices, values):
    for i, v in zip(indices, values):
        x[i] = v
    return x[:]
