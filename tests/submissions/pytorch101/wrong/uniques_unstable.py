# A sort that is not stable: right by chance for few numbers, wrong for many.
# expect:
#   questions:
#     challenge_get_uniques: {status: failed, checks: {values_and_places: wrong_value}}

import torch


def challenge_get_uniques(x):
    ordered, places = torch.sort(x, stable=False)
    first = torch.ones_like(ordered, dtype=torch.bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first], places[first]
