# Takes for granted that no number is -1.
# expect:
#   questions:
#     challenge_get_uniques: {status: partial, checks: {values_and_places: ok, minus_one: wrong_shape, large_numbers: ok}}

import torch


def challenge_get_uniques(x):
    ordered, places = torch.sort(x, stable=True)
    prev = torch.full_like(ordered, -1)
    prev[1:] = ordered[:-1]
    first = ordered != prev
    return ordered[first], places[first]
