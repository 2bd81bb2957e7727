# Compares each value with each number: N times U places in memory.
# expect:
#   questions:
#     challenge_get_uniques: {status: partial, checks: {values_and_places: ok, memory: too_much_memory}}

import torch


def challenge_get_uniques(x):
    values = torch.unique(x)
    places = (values[:, None] == x).int().argmax(dim=1)
    return values, places
