# The place where each value comes last.
# expect:
#   questions:
#     challenge_get_uniques: {status: failed, checks: {values_and_places: wrong_value}}

import torch


def challenge_get_uniques(x):
    ordered, places = torch.sort(x, stable=True)
    last = torch.ones_like(ordered, dtype=torch.bool)
    last[:-1] = ordered[1:] != ordered[:-1]
    return ordered[last], places[last]
