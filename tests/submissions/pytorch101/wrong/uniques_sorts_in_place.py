# Sorts the caller's numbers.
# expect:
#   questions:
#     challenge_get_uniques: {status: partial, checks: {values_and_places: ok, unmodified: input_modified}}

import torch


def challenge_get_uniques(x):
    ordered, places = torch.sort(x, stable=True)
    x.copy_(ordered)
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first], places[first]
