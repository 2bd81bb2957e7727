# Sorts in float32, where large numbers next to each other are one.
# expect:
#   questions:
#     challenge_get_uniques: {status: partial, checks: {values_and_places: ok, minus_one: ok, large_numbers: wrong_shape}}

import torch


def challenge_get_uniques(x):
    ordered, places = torch.sort(x.float(), stable=True)
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return x[places[first]], places[first]
