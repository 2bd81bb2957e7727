# Number by number.
# expect:
#   questions:
#     challenge_get_uniques: {status: partial, checks: {values_and_places: ok, memory: ok, no_loops: loop_found, no_unique: ok}}

import torch


def challenge_get_uniques(x):
    first = {}
    for place, value in enumerate(x.tolist()):
        first.setdefault(value, place)
    return torch.tensor(list(first)), torch.tensor(list(first.values()))
