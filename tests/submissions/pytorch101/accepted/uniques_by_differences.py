# Different where the one before is, the first by a number that is not there.
# expect:
#   questions:
#     challenge_get_uniques: {status: passed}
#     "*": {status: passed}

import torch


def challenge_get_uniques(x):
    ordered, places = torch.sort(x, stable=True)
    first = torch.diff(ordered, prepend=ordered[:1] - 1) != 0
    return ordered[first], places[first]
