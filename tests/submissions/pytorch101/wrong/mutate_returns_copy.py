# Writes in place as asked, and then returns a copy.
# expect:
#   questions:
#     mutate_tensor: {status: partial, checks: {values: ok, in_place: not_in_place}}

import torch


def mutate_tensor(x, indices, values):
    for index, value in zip(indices, values):
        x[index] = value
    return torch.tensor(x)
