# How often each value comes instead of where.
# expect:
#   questions:
#     challenge_get_uniques: {status: failed, checks: {values_and_places: wrong_value}}

import torch


def challenge_get_uniques(x):
    return torch.unique(x, return_counts=True)
