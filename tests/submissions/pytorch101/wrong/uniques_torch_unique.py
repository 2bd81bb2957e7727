# torch.unique, which earns half.
# expect:
#   questions:
#     challenge_get_uniques: {status: partial, checks: {values_and_places: ok, memory: ok, no_loops: ok, no_unique: forbidden_call}}

import torch


def challenge_get_uniques(x):
    values, inverse = torch.unique(x, return_inverse=True)
    places = torch.full((values.shape[0],), x.shape[0]).scatter_reduce(
        0, inverse, torch.arange(x.shape[0]), "amin"
    )
    return values, places
